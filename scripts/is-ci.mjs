/** Whether this is a CI job: `CI` is set, and not to `0` or `false`. */
export const isCi = !['', '0', 'false'].includes((process.env.CI ?? '').toLowerCase())
