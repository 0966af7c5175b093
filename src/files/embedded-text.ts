/** The files that the single executable contains, since it has no folder of the package. */
// biome-ignore lint/correctness/noUnresolvedImports: a module of Node.js since 20.12, which Biome does not know
import { getAsset, isSea } from 'node:sea'

/** The text of a file that `scripts/release/executable.mjs` embeds, by its name there; null if the program is not the single executable. */
export const embeddedText = (name: string): string | null => (isSea() ? getAsset(name, 'utf8') : null)
