"""The solver behind `auto`, written once for a single target, a batch, all branches, obstacles and the GPU.

`kinematics` gives residual and Jacobian, `descent` goes down from one start, `starts` says where starts come from,
`policy` when a search ends, and `search` puts them together.
"""
