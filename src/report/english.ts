/** `12000` as `12,000`. */
export const formatCount = (count: number): string => String(count).replace(/\B(?=(?:[0-9]{3})+$)/g, ',')

/** `1 zone`, `2 zones`. */
export const counted = (count: number, noun: string): string => `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`
