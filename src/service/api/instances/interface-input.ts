import { isIPv4, isIPv6 } from 'node:net'
import type { Region } from '../../catalogue/regions.ts'
import type { Interface } from '../../store/instance-content-store.ts'
import type { RequestProblem } from '../request-error.ts'

/** An interface as a request has it. */
export interface InterfaceBody {
  readonly purpose: Interface['purpose']
  readonly label?: string | null
  readonly ipam_address?: string | null
}

/** Whether a region has VLANs. */
export const hasVlans = ({ capabilities }: Region): boolean => capabilities.includes('Vlans')

/** The interfaces that a request asks for, with what is wrong with them added to the faults. `region` is null where it is at fault itself. */
export function readInterfaces(
  bodies: readonly InterfaceBody[] | null | undefined,
  region: Region | null,
  problems: RequestProblem[],
): readonly Interface[] {
  const interfaces = (bodies ?? []).map(({ purpose, label, ipam_address }): Interface => {
    const [name, address] = [label || null, ipam_address || null]
    if (purpose === 'public') {
      if (name !== null) problems.push({ field: 'interfaces.label', reason: 'A public interface has no label.' })
      if (address !== null) problems.push({ field: 'interfaces.ipam_address', reason: 'A public interface has no ipam_address.' })
    } else {
      if (name === null) problems.push({ field: 'interfaces.label', reason: 'interfaces.label is required' })
      else if (!isVlanLabel(name)) problems.push({ field: 'interfaces.label', reason: VLAN_LABEL })
      if (address !== null && !isCidr(address))
        problems.push({ field: 'interfaces.ipam_address', reason: 'interfaces.ipam_address is not valid' })
    }
    return { purpose, label: name, ipam_address: address }
  })
  if (region && !hasVlans(region) && interfaces.some(({ purpose }) => purpose === 'vlan')) problems.push(noVlans('interfaces'))
  return interfaces
}

export const noVlans = (field: string): RequestProblem => ({
  field,
  reason: "This Linode's region does not support VLANs at this time.",
})

const VLAN_LABEL = 'A VLAN has a name of 1 to 64 letters, digits and single hyphens.'

const isVlanLabel = (text: string): boolean => /^[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*$/.test(text)

/** An address with the length of its prefix (RFC 4632 section 3.1; RFC 4291 section 2.3). */
function isCidr(text: string): boolean {
  const [, address = '', length = ''] = /^([^/%]*)\/(0|[1-9]\d{0,2})$/.exec(text) ?? []
  if (length === '') return false
  return isIPv4(address) ? Number(length) <= 32 : isIPv6(address) && Number(length) <= 128
}
