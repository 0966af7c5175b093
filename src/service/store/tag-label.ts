/** Tags that one object can have. */
export const MAX_TAGS = 500

/** A label by which a tag is found: it is one whatever its case. */
export const foldLabel = (label: string): string => label.toLowerCase()
