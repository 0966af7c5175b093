/** A valid body for every operation with a body. */
import { SSH_KEYS } from './profile/ssh-key-samples.ts'
import type { Body } from './schema-bodies.ts'

/** Ids of the owner's objects for the bodies. */
export interface Named {
  readonly instance: number
  /** An instance that may be overwritten. */
  readonly saved: number
  readonly disk: number
  readonly questions: readonly number[]
}

export interface GoodBody {
  /** A body; different numbers create objects that do not conflict. */
  readonly make: (number: number, named: Named) => Body
  /** Fields that are not varied, because they change more than the response shows. */
  readonly fixed?: readonly string[]
  /** The body is valid only in a certain state: after a code was sent, or in a state of an instance. */
  readonly mayBeRefused?: true
  /** Excludes all fields from variation. */
  readonly errorsOnly?: true
}

/** Settings of a domain, all different from the defaults. */
const SETTINGS = {
  ...{ description: 'any', group: 'group', axfr_ips: ['192.0.2.1'], master_ips: ['192.0.2.2'] },
  ...{ expire_sec: 604800, refresh_sec: 7200, retry_sec: 300, ttl_sec: 3600 },
}
const INSTANCE = { region: 'us-east', type: 'g6-nanode-1', tags: ['any'], image: 'public/debian11' }

const SHELL = { shell_auth_method: 'keys_only', authorized_keys: [SSH_KEYS['ssh-ed25519']] }
const PASSWORD = 'correct horse battery 9'

export const GOOD_BODIES: Readonly<Record<string, GoodBody>> = {
  'POST /compute/instances': { make: (number) => ({ ...INSTANCE, label: `any-${number}`, root_pass: PASSWORD }) },
  'PUT /compute/instances/{instanceId}': {
    make: (number) => ({
      label: `changed-${number}`,
      group: 'group',
      tags: ['any', 'other'],
      watchdog_enabled: false,
      alerts: { cpu: 10, io: 20, network_in: 30, network_out: 40, transfer_quota: 50 },
    }),
  },
  'POST /compute/instances/{instanceId}/boot': { make: () => ({}), mayBeRefused: true },
  'POST /compute/instances/{instanceId}/clone': {
    make: (number) => ({ label: `clone-${number}`, region: 'us-east', type: 'g6-nanode-1' }),
    fixed: ['instance_id'],
    mayBeRefused: true,
  },
  'POST /compute/instances/{instanceId}/backups': { make: () => ({ label: 'snapshot' }), mayBeRefused: true },
  'POST /compute/instances/{instanceId}/backups/{backupId}/restore': {
    make: (_, { saved }) => ({ instance_id: saved, overwrite: true }),
    fixed: ['instance_id'],
    mayBeRefused: true,
  },
  'POST /compute/instances/{instanceId}/configs': {
    make: (_, { disk }) => ({
      label: 'profile',
      comments: 'any',
      devices: { sda: { disk_id: disk } },
      helpers: { distro: false, network: false },
      interfaces: [{ purpose: 'public' }],
      kernel: 'linode/grub2',
      memory_limit: 512,
      root_device: '/dev/sdb',
      run_level: 'single',
      virt_mode: 'fullvirt',
    }),
  },
  'POST /compute/scripts': {
    make: () => ({ label: 'any script', description: 'any', images: ['any/all'], rev_note: 'first', script: '#!/bin/sh\n' }),
  },
  'PUT /compute/scripts/{scriptId}': {
    make: () => ({ label: 'other', description: 'other', images: ['public/debian11'], rev_note: 'second', script: '#!/bin/sh\n:\n' }),
    fixed: ['is_public'],
  },
  'POST /domains': {
    make: (number) => ({ domain: `any-${number}.example`, type: 'master', soa_email: 'any@example.com', tags: ['any'], ...SETTINGS }),
  },
  'PUT /domains/{domainId}': { make: () => ({ soa_email: 'other@example.com', ...SETTINGS }), fixed: ['type', 'tags'] },
  'POST /domains/import': { make: () => ({ domain: 'imported.example', remote_nameserver: '127.0.0.1' }), errorsOnly: true },
  'POST /domains/{domainId}/clone': { make: (number) => ({ domain: `cloned-${number}.example` }) },
  'POST /domains/{domainId}/records': { make: () => ({ type: 'TXT', name: 'any', target: 'text', ttl_sec: 300 }) },
  'PUT /domains/{domainId}/records/{recordId}': { make: () => ({ name: 'any', target: 'other text', ttl_sec: 3600 }) },
  'POST /images': { make: (_, { disk }) => ({ disk_id: disk, label: 'any image', description: 'any' }) },
  'POST /images/upload': { make: () => ({ label: 'any image', region: 'us-east', description: 'any' }) },
  'PUT /images/{imageId}': { make: () => ({ label: 'any image', description: 'any' }) },
  'POST /tags': { make: (number, { instance }) => ({ label: `any tag ${number}`, instances: [instance] }) },
  'PUT /profile': {
    make: () => ({ email: 'someone@example.com', email_notifications: false, timezone: 'Europe/Berlin', ...SHELL }),
    fixed: ['restricted'],
  },
  'POST /profile/phone-number': { make: () => ({ iso_code: 'US', phone_number: '202-555-0123' }), mayBeRefused: true },
  'POST /profile/phone-number/verify': { make: () => ({ otp_code: '123456' }), mayBeRefused: true },
  'PUT /profile/preferences': { make: () => ({ theme: 'dark' }) },
  'POST /profile/security-questions': {
    make: (_, { questions }) => ({ security_questions: questions.slice(0, 3).map((id) => ({ question_id: id, response: 'answer' })) }),
  },
  'POST /profile/sshkeys': { make: () => ({ label: 'any key', ssh_key: SSH_KEYS['ssh-ed25519'] }) },
  'PUT /profile/sshkeys/{sshKeyId}': { make: () => ({ label: 'other' }) },
  'POST /profile/tfa-enable-confirm': { make: () => ({ tfa_code: '123456' }), mayBeRefused: true },
  'POST /profile/tokens': { make: () => ({ label: 'any token', scopes: 'domains:read_only' }) },
  'PUT /profile/tokens/{tokenId}': { make: () => ({ label: 'other' }) },
}
