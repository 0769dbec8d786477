"""The solver behind `auto`, written once for a single target, a batch, all branches, obstacles and the GPU.

`kinematics` computes residual and Jacobian, `descent` minimises from one start, `starts` chooses starts, `policy`
decides when a search ends, and `search` combines them.
"""
