/** The result of parsing input: a value, or an error message for the user. */
export type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string }

export const ok = <T>(value: T): Result<T> => ({ ok: true, value })

export const failure = (message: string): { readonly ok: false; readonly message: string } => ({ ok: false, message })
