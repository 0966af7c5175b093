/** The client library of the hosting service's own web front end, for the sections with the same paths. */
import * as library from '@linode/api-v4'
import { describe, expect, test } from 'vitest'
import { readSeed } from '../../../src/service/index.ts'
import { startForTest } from '../harness.ts'
import { SSH_KEYS } from '../profile/ssh-key-samples.ts'
import { directTo } from './direct-to.ts'

const {
  createSSHKey,
  createTag,
  deleteImage,
  deleteSSHKey,
  deleteTag,
  deleteTrustedDevice,
  getImage,
  getImages,
  getRegion,
  getRegions,
  getSecurityQuestions,
  getSSHKey,
  getSSHKeys,
  getTags,
  getTrustedDevices,
  getUserPreferences,
  smsOptOut,
  updateImage,
  updateSecurityQuestions,
  updateSSHKey,
  updateUserPreferences,
  uploadImage,
  // biome-ignore lint/suspicious/noExplicitAny: the package's declarations name their files without extension, so that none is found
} = library as any

const SEED = {
  accounts: [
    {
      users: [{ username: 'alice', email: 'alice@example.com', tokens: [{ token: 'alice' }], devices: [{ user_agent: 'Mozilla/5.0' }] }],
      instances: [{ id: 1001, label: 'web-1', region: 'us-east' }],
      volumes: [{ id: 4001, label: 'data', region: 'us-east', tags: ['green'] }],
      images: [{ label: 'golden' }],
    },
  ],
}
const { seed } = readSeed(JSON.stringify(SEED), 'seed.json')
const { service } = await startForTest({ seed })
directTo(service.baseUrl, () => 'alice')

describe('@linode/api-v4', () => {
  test('lists, uploads, changes and deletes images', async () => {
    const { data, results } = await getImages({ page_size: 500 }, { is_public: false })
    expect([results, data]).toMatchObject([1, [{ label: 'golden', status: 'available', created_by: 'alice', is_public: false }]])
    expect(await getImage('public/debian11')).toMatchObject({ id: 'public/debian11', vendor: 'Debian' })
    const { image, upload_to: uploadTo } = await uploadImage({ label: 'made', region: 'us-east' })
    expect(image).toMatchObject({ label: 'made', status: 'pending_upload' })
    expect(new URL(uploadTo).origin).toBe(new URL(service.baseUrl).origin)
    expect(await getImage(image.id)).toEqual(image)
    expect(await updateImage(image.id, { label: 'renamed', description: 'of today' })).toMatchObject({ label: 'renamed' })
    expect(await deleteImage(image.id)).toEqual({})
    expect((await getImages({}, { label: 'renamed' })).results).toBe(0)
  })

  test('lists regions', async () => {
    const { data } = await getRegions({ page_size: 500 })
    expect(await getRegion('us-east')).toEqual(data.find(({ id }: { id: string }) => id === 'us-east'))
  })

  test('creates, renames and deletes SSH keys', async () => {
    const key = await createSSHKey({ label: 'laptop', ssh_key: SSH_KEYS['ssh-ed25519'] })
    expect((await getSSHKeys()).data).toEqual([key])
    expect(await updateSSHKey(key.id, { label: 'desk' })).toEqual({ ...key, label: 'desk' })
    expect(await getSSHKey(key.id)).toMatchObject({ label: 'desk' })
    expect(await deleteSSHKey(key.id)).toEqual({})
  })

  test('stores preferences, answers to questions and devices', async () => {
    expect(await updateUserPreferences({ theme: 'dark' })).toEqual({ theme: 'dark' })
    expect(await getUserPreferences()).toEqual({ theme: 'dark' })
    const { security_questions: questions } = await getSecurityQuestions()
    const answers = questions.slice(0, 3).map(({ id, question }: { id: number; question: string }) => ({
      question_id: id,
      response: 'answer',
      security_question: question,
    }))
    await updateSecurityQuestions({ security_questions: answers })
    const answered = (await getSecurityQuestions()).security_questions
    expect(answered.filter(({ response }: { response: string | null }) => response !== null)).toHaveLength(3)
    const [device] = (await getTrustedDevices()).data
    expect(device).toMatchObject({ user_agent: 'Mozilla/5.0' })
    expect(await deleteTrustedDevice(device.id)).toEqual({})
    expect(await smsOptOut()).toEqual({})
  })

  test("tags objects by the library's names of the fields", async () => {
    expect(await createTag({ label: 'Green', linodes: [1001] })).toEqual({ label: 'green' })
    expect((await getTags()).data).toEqual([{ label: 'green' }])
    expect(await deleteTag('green')).toEqual({})
    expect((await getTags()).data).toEqual([])
  })
})
