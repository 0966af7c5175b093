import { readFileSync } from 'node:fs'
import { formatDiagnostic } from '../../../src/base/diagnostic.ts'
import { createSchemaCompiler } from '../../../src/checks/policies/compile-schema.ts'
import { type ReadPolicies, readPolicies } from '../../../src/checks/policies/read-policies.ts'

/** Reads a policy file `p.yaml`. */
export const read = (text: string): ReadPolicies => readPolicies(text, 'p.yaml', createSchemaCompiler())

/** The diagnostics of a policy file, as lines. */
export const problemsOf = (text: string): string[] => read(text).diagnostics.map(formatDiagnostic)

/** The policy files of a page of the documentation. */
export const documentedPolicies = (page: string): string[] =>
  [...readFileSync(new URL(`../../../docs/${page}`, import.meta.url), 'utf8').matchAll(/^( *)```yaml policies\n(.*?)^ *```$/gms)].map(
    ([, indent = '', body = '']) => body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )
