/** The words of the domain, in the order in which a person thinks of them. */

export const PERMANENCES = ["permanent", "stable", "standard", "volatile", "ephemeral"] as const;
export type Permanence = (typeof PERMANENCES)[number];

export const MATURITIES = ["proven", "established", "candidate", "anti_pattern"] as const;
export type Maturity = (typeof MATURITIES)[number];

export const MEMORY_TYPES = ["fact", "rule", "episode"] as const;
export type MemoryType = (typeof MEMORY_TYPES)[number];

export const ENTITY_TYPES = ["person", "organization", "place", "other"] as const;
export type EntityType = (typeof ENTITY_TYPES)[number];

/** What a permanence means for a reader: how long such a fact takes to lose half its confidence. */
export const PERMANENCE_MEANING: Record<Permanence, string> = {
  permanent: "never fades",
  stable: "halves in a year",
  standard: "halves in 3 months",
  volatile: "halves in 3 weeks",
  ephemeral: "halves in a week",
};
