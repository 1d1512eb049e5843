return mgb.model("resnet", { depth = 152 }):as("resnet152") -- 60,192,808 parameters; resnet.lua has the net
