"""Intervals and paired tests, on samples whose result is known."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fin_agent.evaluation.statistics import Estimate, estimate, holm, paired_test

needs_scipy = pytest.mark.usefixtures("scipy")
SHARES = st.sampled_from([0.0, 1 / 3, 0.5, 1.0])
PAIRED = st.lists(st.tuples(SHARES, SHARES), min_size=2, max_size=12)


@pytest.fixture(scope="session")
def scipy() -> None:
    pytest.importorskip("scipy", reason='needs `pip install ".[evaluation]"`')


class TestInterval:
    @given(st.floats(-1e6, 1e6), st.integers(2, 50))
    def test_of_a_constant_is_that_constant(self, value: float, count: int) -> None:
        assert estimate([value] * count) == Estimate(value, value, value)

    def test_needs_two_values(self) -> None:
        assert estimate([]) is None and estimate([0.5]) == Estimate(0.5, None, None)

    @needs_scipy
    def test_holds_the_mean_and_depends_on_the_seed_alone(self) -> None:
        sample = [1.0] * 30 + [0.0] * 10
        found = estimate(sample, resamples=2000, seed=3)
        assert found is not None and found.low is not None and found.high is not None
        # The normal approximation gives 0.75 -+ 0.134.
        assert found.low == pytest.approx(0.616, abs=0.04)
        assert found.high == pytest.approx(0.884, abs=0.04)
        assert found == estimate(sample, resamples=2000, seed=3)

    @needs_scipy
    def test_narrows_with_more_questions(self) -> None:
        few, many = (width(estimate([1.0, 0.0] * times, resamples=1000)) for times in (5, 50))
        assert many < few / 2


def width(found: Estimate | None) -> float:
    assert found is not None and found.low is not None and found.high is not None
    return found.high - found.low


@needs_scipy
class TestPairedTest:
    @pytest.mark.parametrize(
        ("first", "second", "p_value"),
        [
            ([1, 1, 1, 0], [0, 0, 0, 0], 2 / 2**3),
            ([1] * 5, [0] * 5, 2 / 2**5),
            ([1] * 10, [0] * 10, 2 / 2**10),
            # Signs of (1, 1, -1): a sum of 1 or more in 4 of 8, doubled.
            ([1, 1, 0], [0, 0, 1], 1.0),
            # Signs of (1, 1, 1, 1, -1): a sum of 3 or more in 6 of 32, doubled.
            ([1, 1, 1, 1, 0], [0, 0, 0, 0, 1], 12 / 32),
            ([1, 0], [0, 0], 1.0),
            ([0.5, 1], [0.5, 1], 1.0),
        ],
    )
    def test_known_exact_p_values(self, first: list[float], second: list[float], p_value: float) -> None:
        found = paired_test(first, second, resamples=2000)
        assert found.exact
        assert found.p_value == pytest.approx(p_value)

    @settings(max_examples=25, deadline=None)
    @given(PAIRED, st.integers(0, 5))
    def test_swapping_the_pair_flips_the_sign(self, pairs: list[tuple[float, float]], seed: int) -> None:
        first, second = ([pair[side] for pair in pairs] for side in (0, 1))
        one = paired_test(first, second, resamples=300, seed=seed)
        other = paired_test(second, first, resamples=300, seed=seed)
        assert other.difference.mean == pytest.approx(-one.difference.mean)
        assert other.p_value == pytest.approx(one.p_value)
        ends = one.difference.low, one.difference.high
        assert (other.difference.high, other.difference.low) == pytest.approx(
            tuple(-each for each in ends if each is not None)
        )

    def test_questions_with_equal_results_change_nothing(self) -> None:
        plain = paired_test([1, 1, 1, 1, 0], [0, 0, 0, 0, 1])
        padded = paired_test([1, 1, 1, 1, 0, *[1] * 40], [0, 0, 0, 0, 1, *[1] * 40])
        assert padded.p_value == plain.p_value
        assert padded.exact
        assert padded.differing == 5

    def test_many_differences_are_sampled(self) -> None:
        found = paired_test([1] * 20, [0] * 20, resamples=500, seed=1)
        assert not found.exact
        assert found.p_value == pytest.approx(2 / 501)
        assert found.p_value == paired_test([1] * 20, [0] * 20, resamples=500, seed=1).p_value


class TestHolm:
    def test_known_correction_in_the_order_given(self) -> None:
        assert holm([0.01, 0.04, 0.03]) == pytest.approx((0.03, 0.06, 0.06))
        assert holm([0.6, 0.7]) == (1.0, 1.0)
        assert holm([0.2]) == (0.2,)
        assert holm([]) == ()

    @given(st.lists(st.floats(0, 1), max_size=8))
    def test_never_below_the_p_value_and_never_out_of_order(self, p_values: list[float]) -> None:
        corrected = holm(p_values)
        assert all(1 >= after >= before for before, after in zip(p_values, corrected, strict=True))
        by_p_value = [after for _, after in sorted(zip(p_values, corrected, strict=True))]
        assert by_p_value == sorted(by_p_value)
