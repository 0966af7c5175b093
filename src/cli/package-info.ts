declare const __VERSION__: string | undefined

/** The version of the package; `0.0.0-source` when the source runs without having been bundled. */
export const VERSION: string = typeof __VERSION__ === 'string' ? __VERSION__ : '0.0.0-source'

/** Program and version, as plans and journals name it. */
export const TOOL = `zonewright ${VERSION}`
