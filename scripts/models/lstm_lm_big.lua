-- The LSTM-2048-512 of Jozefowicz et al. (arXiv 1602.02410): a cell of 9.4 M parameters whose state is projected to 512 numbers,
-- and two tables of 793,471 words: 822,753,151 parameters, 3.3 GB. Give a smaller vocabulary where that is too much:
--     mgb.run{ model = mgb.model("lstm_lm_big", { vocabulary = 10000 }), batch = 8 }
return mgb.model("lstm_lm", { vocabulary = 793471, embedding = 512, units = 2048, projection = 512, seq = 20 })
  :as("lstm_lm_big")
