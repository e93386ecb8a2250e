import * as z from 'zod';
import { custodyState, fingerprint, instance, runId, seconds, time } from '../../base/fields.ts';
import { list, schema } from './result.ts';

const recipient = z.string().describe('an age recipient, age1…');
const backupId = z.int().describe('its id inside the instance');

const key = z.object({ instance, fingerprint });

const fit = z
  .enum(['fits', 'none', 'not-encrypted', 'not-downloadable', 'unasked'])
  .describe(
    'fits: a held key opens its first block, which is weaker than a verify; none: no held key does; unasked: it could not be asked',
  );

const listedBackup = z.object({
  id: backupId,
  backupId: z.string().optional().describe('its id across instances'),
  triggeredAt: time.optional(),
  downloadable: z.boolean().optional(),
  by: z.enum(['verify', 'fit', 'date']).describe('what says that it belongs to the key: weakest last'),
});

export const custody = {
  fits: list(
    'fits',
    'the key of each backup, by its first block',
    z.object({
      instance,
      backup: backupId.optional(),
      backupId: z.string().optional(),
      triggeredAt: time.optional(),
      fit,
      fingerprint: fingerprint.optional(),
      heldFor: instance.optional().describe('the other instance for which the key is held'),
      profile: z.string().optional().describe('how the key becomes a cipher key: md5, sha256 or pbkdf2'),
      provenAt: time.optional().describe('when a verify opened it to its last byte'),
      why: z.string().optional(),
    }),
  ),
  epochs: list(
    'epochs',
    'the keys of an instance, oldest first',
    z.object({
      instance,
      fingerprint: fingerprint.optional().describe('missing for a key set by others'),
      epoch: z.int().positive().optional().describe('its number in the ledger of the instance'),
      custody: custodyState,
      held: z.boolean().describe('whether this key store has it'),
      since: time.optional(),
      until: time.optional(),
      by: z.string().optional().describe('who set it'),
      run: runId.optional(),
      provenAt: time.optional(),
      origin: z.enum(['generated', 'given']).optional(),
      note: z.string().optional(),
      backups: z.array(listedBackup),
      openers: z
        .array(z.object({ name: z.string(), recipient, provenAt: time.optional() }))
        .describe('who could open it besides this key store, from a sealed copy'),
      copies: z.array(z.string()).describe('the places of its sealed copies'),
      retired: z.object({ at: time, reason: z.string(), compromised: z.boolean() }).optional(),
      scheduled: z.object({ due: time, because: z.string().optional() }).optional(),
      destroyed: z.object({ at: time, because: z.string().optional() }).optional(),
    }),
  ),
  identity: schema('identity', "a person's own age identity", {
    recipient,
    made: z.boolean().describe('whether this command made it'),
    keptIn: z.string().describe('the key store, in words'),
  }),
  escrow: schema('escrow', 'whether every key has its sealed copies, and who could open them', {
    met: z.boolean().describe('whether the policy of the config is met'),
    lack: z.string().optional().describe('why a key could not go into escrow now'),
    atLeast: z.int().positive(),
    proofSeconds: seconds,
    places: z.array(z.string()),
    holders: z.array(
      z.object({
        name: z.string(),
        recipient,
        state: z.enum(['proven', 'expired', 'never']),
        provenAt: time.optional(),
        provenBy: z.string().optional(),
      }),
    ),
    keys: z.array(
      key.extend({
        held: z.boolean(),
        active: z.boolean(),
        copies: z.array(z.object({ place: z.string(), openers: z.array(z.string()) })),
        lacks: z.array(z.string()).describe('why the policy is not met for it'),
      }),
    ),
    broken: z.array(z.object({ place: z.string(), path: z.string(), why: z.string() })),
    unread: z.array(z.object({ place: z.string(), why: z.string() })),
    onMachine: z
      .object({ places: z.array(z.string()), holders: z.array(z.string()) })
      .describe('what goes with this machine: a store that is not shared, and identities in its key store'),
    without: z.array(
      z.object({ what: z.string(), lost: z.array(key).describe('keys that nobody could open then') }),
    ),
  }),
  'escrow-update': schema('escrow-update', 'keys that were sealed again', {
    sealed: z.array(key.extend({ places: z.array(z.string()), recipients: z.array(recipient) })),
    unchanged: z.array(key),
    left: z.array(key.extend({ why: z.string() })).describe('keys that could not be sealed'),
    stillOpen: z
      .array(key.extend({ recipient, active: z.boolean() }))
      .describe('former recipients who can still open a copy that they have'),
  }),
  'escrow-proof': schema('escrow-proof', 'a holder showed that they can open a copy, or was asked to', {
    proven: z.array(recipient),
    asked: z.array(z.object({ recipient, challenge: z.string() })),
    answer: z.string().optional().describe('to be given to `lifeboat keys escrow prove --answer ANSWER`'),
  }),
  'escrow-open': schema('escrow-open', 'keys that came back from sealed copies', {
    keptIn: z.string(),
    opened: z.array(
      key.extend({ place: z.string(), isNew: z.boolean(), fits: z.int().nonnegative().optional() }),
    ),
    failed: z.array(
      key.extend({ place: z.string(), path: z.string().optional(), code: z.string(), why: z.string() }),
    ),
    broken: z.array(z.object({ place: z.string(), path: z.string(), why: z.string() })),
  }),
  'may-destroy': schema('may-destroy', 'whether a key may be destroyed', {
    instance,
    fingerprint,
    may: z.boolean(),
    reasons: z.array(z.object({ code: z.string(), text: z.string() })),
    from: time.optional().describe('the first day on which nothing that is known now needs it any more'),
    custody: custodyState,
  }),
  'key-end': schema('key-end', 'a key that was retired, offered again, scheduled, cancelled or destroyed', {
    instance,
    fingerprint,
    became: z.enum(['retired', 'offered', 'scheduled', 'cancelled', 'destroyed']),
    due: time.optional(),
  }),
  'key-file': schema('key-file', 'keys that were written into a file for another machine', {
    path: z.string(),
    keys: z.int().nonnegative(),
    instances: z.array(instance),
    identity: z.boolean().describe('whether the age identity of the person is in it'),
  }),
  'keys-stored': schema('keys-stored', 'keys that came from a file or from shares', {
    keys: z.int().nonnegative(),
    added: z.int().nonnegative().describe('how many of them were not held before'),
    instances: z.array(instance),
    keptIn: z.string().describe('empty where nothing was stored'),
  }),
  'key-shares': schema('key-shares', 'shares of the key that opens a file of keys', {
    file: z.string(),
    shares: z.array(z.string()).describe('the file of each'),
    threshold: z.int().positive().describe('how many of them open the file'),
    set: z.string().describe('12 hex digits that all of them carry'),
    instances: z.array(instance),
  }),
  passphrase: schema('passphrase', 'the passphrase of the vault file was changed', {
    changed: z.boolean(),
    keptIn: z.string(),
  }),
};
