/** A moment (milliseconds since 1970) as the interface writes it: UTC without a zone suffix, to the second. */
export const clockText = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, 19)
