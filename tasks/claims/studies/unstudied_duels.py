"""What pref-shap claims beyond the data sets that have a study."""

from __future__ import annotations

from tasks.claims.declared import StudyClaims, not_testable

CLAIMS = StudyClaims(
    study=None,
    claims=(
        *not_testable(
            "pref-shap, section 4 and Appendix B",
            "the data of that shop is not public",
            {"fashion": "The explanations also work at large scale, on what visitors of a fashion shop chose."},
        ),
        *not_testable(
            "pref-shap, section 3.1 and Appendix B",
            "the appendix is not at hand; that the method here never does so is a property, which the tests check",
            {"concatenation": "SHAP on the features of both items together depends on which item comes first."},
        ),
        *not_testable(
            "pref-shap, section 4 and 5",
            "no measure of richness was published; the findings of each data set stand above",
            {"richer": "Explaining the preference itself tells more than explaining a utility."},
        ),
        *not_testable(
            "pref-shap, section 4",
            "what counts as rankable was not published; SpecR and the advantages over UPM stand above",
            {"not_rankable": "None of the four data sets is rankable."},
        ),
    ),
)
