/** Runs the tests of policies. Pure. */
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { completeDocument } from './policy-documents.ts'
import type { Policies, PolicyRule } from './policy-rule.ts'

/** An error for each test that fails, and a notice for each rule without tests. Exceptions do not apply to tests. */
export const testPolicies = ({ rules }: Pick<Policies, 'rules'>): Diagnostic[] => rules.flatMap(testRule)

function testRule({ name, each, tests, at, selects, problemOf }: PolicyRule): Diagnostic[] {
  if (tests.length === 0)
    return [
      {
        severity: 'notice',
        code: 'policies-untested',
        message: `the policy ${name} has no tests`,
        at,
        hint: 'add "tests" with a document that passes and one that fails',
      },
    ]
  return tests.flatMap(({ given, expect, at: place }): Diagnostic[] => {
    const document = completeDocument(each, given as Readonly<Record<string, unknown>>)
    const problem = problemOf(document)
    if ((problem === null) === (expect === 'pass')) return []
    const message = `the policy ${name}: a test expects ${expect}, and the rule ${problem === null ? 'accepts' : 'refuses'} the document`
    return [
      {
        severity: 'error',
        code: 'policies-test-failed',
        message,
        at: place,
        hint: problem?.text ?? (selects(document) ? undefined : '"where" does not select it'),
      },
    ]
  })
}
