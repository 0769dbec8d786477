"""Ours beside the printed numbers: intervals, verdicts, reasons and units."""

import math

import pytest

from arcreach.experiments import NAMES, find_experiment
from arcreach.experiments.engine.comparison import Comparison
from arcreach.experiments.report.statistics import Summary, number_text, time_text
from arcreach.experiments.report.verdicts import AGREES, difference, share_outcome


# Values of the formula as printed in its tables, for example by R's binom package.
@pytest.mark.parametrize(
    ("reached", "count", "low", "high"),
    [
        (0, 10, 0.0, 0.27753),
        (8, 10, 0.49016, 0.94332),
        (10, 10, 0.72247, 1.0),
        (50, 100, 0.40383, 0.59617),
        (0, 0, 0, 1),
    ],
)
def test_wilson(reached, count, low, high):
    assert summary("a", "m", reached, count).interval == pytest.approx((low, high), abs=1e-5)


def test_agreement_is_within_the_interval_and_the_printed_digits():
    from arcreach.experiments.engine.experiment import Printed

    ours = Summary("a", "m", 1000, 900, 0, 1.0, 1.0, 1.0, 1.0, 1.0)
    low, high = (100.0 * end for end in ours.interval)
    assert share_outcome(ours, high + 0.04) == AGREES
    assert share_outcome(ours, low) == AGREES
    assert share_outcome(ours, high + 0.1) != AGREES
    assert difference(ours, Printed("a", "m", 88.0)) == pytest.approx(2.0)
    assert difference(ours, Printed("a", "m")) is None


def summary(case, method, reached, count=1000, iterations=10.0):
    return Summary(case, method, count, reached, 0, 2e-6, 1e-6, 3e-6, iterations, iterations)


def test_a_verdict_on_every_printed_number():
    from arcreach.experiments.engine.experiment import Printed
    from arcreach.experiments.report.verdicts import AGREES, DIFFERS, NEAR, counts, farthest, on_summary

    theirs = Printed("a", "m", 90.0, mean_iterations=10.4, median_iterations=11.0, label="theirs", worst=40.0)
    found = list(on_summary("t", summary("a", "m", 900), theirs, summary("b", "m", 600)))
    assert [(one.quantity, one.outcome) for one in found] == [
        ("share reached", AGREES), ("share of the worst case", DIFFERS), ("iterations", NEAR), ("iterations", AGREES),
    ]  # fmt: skip
    assert {(one.table, one.method) for one in found} == {("t", "theirs")}
    assert counts(found) == ("4", "2", "1", "1", "+20.0 points (b, theirs)")
    assert farthest(found[:1]) == "–"
    many = summary("a", "m", 900_000, 1_000_000)
    assert [one.outcome for one in on_summary("t", many, Printed("a", "m", 90.9))] == [NEAR]
    assert [one.outcome for one in on_summary("t", many, Printed("a", "m", 91.1))] == [DIFFERS]
    # Nothing reached, no iterations to speak of.
    assert list(on_summary("t", summary("a", "m", 0), Printed("a", "m", mean_iterations=3.0))) == []


def differing(*words):
    from arcreach.experiments.report.verdicts import Verdict

    return [Verdict("t", "a", "p", "share reached", word, 5.0, "points") for word in words]


@pytest.mark.parametrize(
    ("residues", "printed_in", "start"),
    [
        ([1.0, -2.0, 3.0, 9.0], "", "Explained by a reading: other settings; 3 of 4 shares"),
        ([1.0, -2.0, 3.0, 9.0], "chapter 7", "Explained by other settings, printed in chapter 7; 3 of 4 shares"),
        ([1.0, 9.0, -9.5, 9.0], "chapter 7", "Open: the nearest reading is other settings; 1 of 4 shares"),
    ],
)
def test_a_reading_explains_a_table_by_its_numbers(residues, printed_in, start):
    from arcreach.experiments.engine.experiment import Reading
    from arcreach.experiments.report.readings import conclusion
    from arcreach.experiments.report.verdicts import DIFFERS

    reading = Reading("p", "p reading", "other settings", printed_in, remains="Times stay open.")
    text = conclusion(differing(DIFFERS), (reading, residues), "Unused.")
    assert text.startswith(start)
    assert text.endswith(f"{max(residues, key=abs):+.1f}. Times stay open.")


def test_without_a_reading_a_table_agrees_or_stays_open():
    from arcreach.experiments.report.readings import conclusion
    from arcreach.experiments.report.verdicts import AGREES, DIFFERS, NEAR, group_table

    assert conclusion(differing(AGREES, NEAR), None, "") == "Agrees: 1 of 2 numbers agree, the others are near."
    assert conclusion(differing(AGREES, AGREES), None, "") == "Agrees: 2 of 2 numbers agree."
    text = conclusion(differing(AGREES, DIFFERS), None, "Because.")
    assert text == "Open: 1 of 2 numbers differ, the farthest by +5.0 points (a). Because."
    [row] = group_table(differing(AGREES, DIFFERS), {("t", "p"): text}).rows
    assert row[3:7] == ("2", "1", "0", "1")
    assert row[-1] == text


def test_how_much_faster_ours_is():
    from arcreach.experiments.engine.experiment import Printed
    from arcreach.experiments.report.verdicts import times_as_fast

    printed = [
        Printed("a", "x", 50.0, median_time=4e-6),
        Printed("b", "x", 60.0, mean_time=2e-5),
        Printed("c", "z", None, mean_time=1.0),
    ]
    ours = [summary("a", "x", 400), summary("b", "x", 600), summary("a", "y", 520), summary("b", "y", 620)]
    assert times_as_fast(printed, ours) == pytest.approx((4.0 + 10.0) / 2.0)
    assert times_as_fast(printed[2:], ours) is None


def test_every_printed_method_has_a_reading_or_a_reason_for_differing():
    for name in NAMES:
        experiment = find_experiment(name)
        if isinstance(experiment, Comparison):
            known = {*experiment.reasons, *(reading.of for reading in experiment.readings)}
            assert {one.label or one.method for one in experiment.printed()} <= known
            assert {reading.label for reading in experiment.readings} <= {call.label for call in experiment.calls}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (2.5, "2.5 s"), (3e-3, "3 ms"), (4.2e-5, "42 µs"), (5e-7, "0.50 µs"), (math.nan, "–"),
        (9.994e-4, "999 µs"), (9.996e-4, "1 ms"), (0.99996, "1 s"), (999.7, "1000 s"), (1892.0, "1892 s"),
    ],
)  # fmt: skip
def test_times_are_written_in_their_unit(seconds, text):
    assert time_text(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (71.5, "71.5"), (999.7, "1000"), (1624.0, "1624"), (math.nan, "–"), (None, "–")]
)
def test_numbers_have_no_exponent(value, text):
    assert number_text(value) == text
