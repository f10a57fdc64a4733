"""The faults of the mutation run fit the sources, and the tests that should find them are there."""

import pytest
from bench.mutation import ROOT, Mutation, read


@pytest.mark.parametrize("mutation", read(), ids=lambda one: f"{one.area}: {one.file}")
def test_a_fault_fits_the_sources_once_and_its_tests_are_there(mutation: Mutation) -> None:
    text = (ROOT / mutation.file).read_text("utf-8")
    assert mutation.applied(text) != text
    for named in mutation.tests:
        path, _, test = named.partition("::")
        assert not test or f"def {test}(" in (ROOT / path).read_text("utf-8")
        assert (ROOT / path).exists()


def test_a_fault_that_does_not_fit_is_told() -> None:
    with pytest.raises(ValueError, match="has 2 times"):
        Mutation("area", "file", "a", "b", ()).applied("a a")
