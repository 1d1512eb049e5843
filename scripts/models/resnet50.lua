return mgb.model("resnet", { depth = 50 }):as("resnet50") -- 25,557,032 parameters; resnet.lua has the net
