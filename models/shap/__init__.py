"""PREF-SHAP: Shapley values of preferences, and the findings they decide."""
