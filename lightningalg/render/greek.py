"""The Greek letters, by the names that people type: the one list for formulas, sentences and signs."""

from __future__ import annotations

#: name (also the LaTeX command) -> sign; "phi" and "epsilon" are the plain forms, as in LaTeX
GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ", "zeta": "ζ", "eta": "η",
    "theta": "θ", "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π",
    "rho": "ρ", "sigma": "σ", "tau": "τ", "upsilon": "υ", "phi": "ϕ", "chi": "χ", "psi": "ψ", "omega": "ω",
    "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ",
    "Upsilon": "Υ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
    "varepsilon": "ε", "vartheta": "ϑ", "varrho": "ϱ", "varsigma": "ς", "varphi": "φ",
}  # fmt: skip
