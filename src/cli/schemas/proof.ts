import * as z from 'zod';
import { bytes, fingerprint, instance, runId, seconds, sha256, time } from '../../base/fields.ts';
import { Comparison } from '../../report/comparison.ts';
import { Estate } from '../../report/estate.ts';
import { Report } from '../../report/model/model.ts';
import { list, schema } from './result.ts';

const verdict = z.enum(['intact', 'consistent', 'not-intact']);
const principals = z.array(z.string()).describe('who signed, as the file of allowed signers names them');
const order = z.string().describe('what is to be done, as a sentence');

/** What proves something, and who approved it. */
export const proof = {
  verify: schema('verify', 'the verdict on a backup file', {
    ok: z.boolean(),
    verdict: z.enum(['intact', 'readable']).optional(),
    problem: z.string().optional(),
    message: z.string().optional().describe('what exactly was found'),
    looksLike: z.string().optional(),
    tried: z.array(fingerprint).optional().describe('the keys, none of which opens it'),
    key: fingerprint.optional().describe('the key that opens it; `given` for one from a file'),
    profile: z.enum(['md5', 'sha256', 'pbkdf2']).optional().describe('how the key is derived'),
    content: z.enum(['tar', 'gzip', 'data']).optional(),
    entries: z.int().nonnegative().optional().describe('of the tar'),
    cipherBytes: bytes.optional(),
    cipherSha256: sha256.optional(),
    contentBytes: bytes.optional(),
    contentSha256: sha256.optional(),
    seconds: seconds.optional(),
  }),
  audit: schema('audit', 'what an audit of the journal, or of a bundle, found', {
    verdict,
    words: z.string().describe('the verdict as a sentence'),
    entries: z.int().nonnegative(),
    streams: z.int().nonnegative(),
    anchor: z.string().optional().describe('of the log as it was found'),
    pins: z
      .array(z.object({ place: z.string(), size: z.int().nonnegative(), at: time }))
      .describe('checkpoints under a trusted key'),
    run: z
      .object({
        stream: z.string(),
        leaves: z.array(z.array(z.int().nonnegative())).describe('ranges [first, last], from 0'),
      })
      .optional(),
    findings: z.array(
      z.object({
        severity: z.enum(['problem', 'limit', 'note']),
        stream: z.string().optional(),
        seq: z.int().optional(),
        code: z.string(),
        shortMessage: z.string(),
      }),
    ),
  }),
  export: schema('export', 'a bundle that was written', { runId, path: z.string(), bytes, sha256 }),
  anchor: schema('anchor', 'the head of the store, for a ticket', { anchor: z.string() }),
  'audit-key': schema('audit-key', 'the public key of this installation', {
    installation: z.string(),
    publicKey: z.string().describe('PEM'),
    sha256: sha256.describe('of the key in DER'),
  }),
  loss: schema('loss', 'a loss that was accepted', {
    lost: z.boolean().describe('false: nothing is lost, and nothing was written'),
    inDoubt: z.array(instance).describe('instances with a call that may have been done'),
  }),
  report: { about: 'the record of a run', type: Report },
  comparison: { about: 'two runs side by side', type: Comparison },
  estate: { about: 'all instances over a period', type: Estate },
  approvals: list(
    'approvals',
    'requests for the approval of a second person',
    z.object({
      runId,
      challenge: z.string(),
      order,
      target: instance,
      requester: z.string(),
      expiresAt: time,
      file: z.string().describe('what is to be signed; empty for a request that cannot be'),
      command: z.string().describe('what signs it'),
      state: z.enum(['needed', 'given', 'expired', 'withdrawn', 'refused']),
      by: z.string().optional().describe('who approved it, or why nobody has'),
      key: z.string().optional(),
    }),
  ),
  approval: schema('approval', 'an approval that was accepted', {
    runId,
    order,
    principals,
    key: z.string(),
  }),
  withdrawal: schema('withdrawal', 'a request or an approval that was withdrawn', {
    runId,
    order,
    reason: z.string(),
  }),
  signature: schema('signature', 'a signature that was written', {
    path: z.string(),
    runId,
    target: instance,
    order,
  }),
  signer: schema('signer', 'the line for the allowed signers of the other side', { line: z.string() }),
};
