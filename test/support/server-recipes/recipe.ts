import type { TsigKey } from '../tools.ts'

/** A zone the server is primary for. */
export interface PrimaryZone {
  /** Without the final dot. */
  readonly name: string
  /** Text of the zone file. */
  readonly text: string
}

/** A zone the server transfers in from a primary on 127.0.0.1, unsigned or with the setup's key. */
export type SecondaryZone = { readonly name: string; readonly primaryPort: number; readonly signed?: boolean | undefined }

/** The setup of a server, independent of its software. */
export interface ServerSetup {
  /** Writable, for the server alone. */
  readonly directory: string
  /** The IPv4 address that it listens on and transfers from. */
  readonly host: string
  readonly port: number
  readonly zones: readonly PrimaryZone[]
  readonly secondaryZones: readonly SecondaryZone[]
  /** Allows transfers, and updates if the server supports them. */
  readonly key: TsigKey | null
  /** Whether unsigned transfers are allowed too. */
  readonly unsignedTransfer: boolean
  /** Ports on 127.0.0.1 that get a NOTIFY when a zone changes. */
  readonly notify: readonly number[]
  /** Whether sent and received NOTIFY messages are signed with the key. */
  readonly signedNotify: boolean
  /** Whether NSD sends and requests incremental transfers, and BIND sends them for replaced zone files. */
  readonly incremental: boolean
}

/** How to configure and start one kind of server. */
export interface ServerRecipe {
  readonly tools: readonly string[]
  /** Files by their path below the directory; a path that ends in `/` is an empty directory. */
  files(setup: ServerSetup): Readonly<Record<string, string>>
  /** Programs to run before the server starts. */
  prepare?(setup: ServerSetup): Promise<void>
  /** Program and arguments; it stays in the foreground. */
  command(setup: ServerSetup): readonly [string, ...string[]]
  /** Paths to remove before a zone's file is replaced, such as a journal that would be replayed over it. */
  staleFiles(zone: string): readonly string[]
  zoneFile(zone: string): string
}

export const plainKeyName = (key: TsigKey): string => key.name.replace(/\.$/, '')
