/** The licences of the packages whose code is in the bundle: their terms require that copies have them. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-][\w.-]*)?$/i

/**
 * @param {string} root the package's folder
 * @param {readonly string[]} inputs the files of the bundle, relative to it
 */
export function licencesOf(root, inputs) {
  const folders = new Set(inputs.flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []))
  const parts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
    const files = readdirSync(join(root, folder))
      .filter((file) => LICENCE_FILE.test(file))
      .sort()
    const texts = files.map((file) => readFileSync(join(root, folder, file), 'utf8').trim())
    return { name, version, text: texts.length > 0 ? texts.join('\n\n') : `Licence: ${typeof license === 'string' ? license : 'unknown'}` }
  })
  parts.sort((a, b) => (a.name < b.name ? -1 : 1))
  return `Zonewright contains code of these packages.\n${parts.map(({ name, version, text }) => `\n${'-'.repeat(72)}\n${name} ${version}\n\n${text}\n`).join('')}`
}
