const MOST = 120

/** Data for a message, cut off where they are long. */
export const excerpt = (data: string): string => (data.length <= MOST ? data : `${data.slice(0, MOST)}... (${data.length} characters)`)
