import numpy as np

from arcreach.studio.stage.stage import link_segments


def test_tangents_or_chords_as_segments():
    links = np.arange(18.0).reshape(2, 3, 3)
    tangents = link_segments(links)
    assert tangents.shape == (4, 2, 3)
    assert {tuple(map(tuple, segment)) for segment in tangents.tolist()} == {
        (tuple(section[k]), tuple(section[k + 1])) for section in links.tolist() for k in (0, 1)
    }
    links[:, 1] = np.nan
    np.testing.assert_array_equal(link_segments(links), links[:, ::2])
    assert len(link_segments(np.full((2, 3, 3), np.nan))) == 0
