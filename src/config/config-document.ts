import type { Diagnostic } from '../base/diagnostic.ts'
import type { YamlNode } from '../definition/yaml/yaml-node.ts'
import type { ApexNsMode, Policy, UnmanagedSelector } from '../dns/zone.ts'
import type { SafetyThresholds } from '../plan/safety-limits.ts'

/** A config that is being read: its nodes, for positions, and the problems found so far. */
export interface Reading {
  readonly root: YamlNode
  readonly diagnostics: Diagnostic[]
}

/** The config as its schema describes it, after validation. */
export interface ConfigDocument {
  readonly providers?: Readonly<Record<string, Readonly<Record<string, unknown>> & { readonly type: string }>>
  readonly zones?: readonly RuleDocument[]
  readonly defaults?: Readonly<Record<string, unknown>>
  readonly safety?: Partial<SafetyThresholds>
  readonly unsupported?: 'error' | 'skip'
  readonly delete_removed?: boolean
  readonly ignore?: readonly object[]
  readonly unmanaged?: readonly UnmanagedSelector[]
  readonly nameservers?: readonly string[]
  readonly usage?: { readonly source?: string | readonly string[]; readonly in_use?: string | number }
  readonly quarantine?: { readonly reads?: number; readonly for?: number | string }
  readonly journal?: string | JournalDocument
  readonly policies?: string | readonly string[]
  readonly approvals?: ApprovalsDocument
  readonly programs?: { readonly date?: string }
  readonly octodns_default_ttl?: number | string
  readonly octodns_split_extension?: string
}

export interface ApprovalsDocument {
  readonly needed: number
  readonly zones?: readonly { readonly zone: string | readonly string[]; readonly needed: number }[]
  /** Public keys by name. */
  readonly keys?: Readonly<Record<string, string>>
}

export interface JournalDocument {
  readonly dir?: string
  readonly url?: string
  readonly region?: string
  readonly endpoint?: string
  readonly profile?: string
  readonly lease?: number | string
}

/** An entry of `zones`. */
export interface RuleDocument {
  readonly files?: string | readonly string[]
  readonly zone?: string | readonly string[]
  readonly enabled?: boolean
  readonly owner?: string
  readonly targets?: readonly string[]
  readonly policy?: Policy
  readonly allow?: readonly string[]
  readonly unsupported?: 'error' | 'skip'
  readonly apex_ns?: ApexNsMode
  readonly auto_ptr?: boolean
  readonly unmanaged?: readonly UnmanagedSelector[]
  readonly internal?: boolean
  readonly ignore?: readonly object[]
  readonly safety?: Partial<SafetyThresholds>
  readonly delete_removed?: boolean
  readonly nameservers?: readonly string[]
}
