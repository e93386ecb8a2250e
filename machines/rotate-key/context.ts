import { z } from 'zod';
import { Failure } from '../parts/failure.ts';
import {
  BackupFacts,
  DownloadedFile,
  Fingerprint,
  KeySetting,
  NegativeTest,
  PreflightFacts,
  StoredKey,
  Verification,
} from '../parts/verbs.ts';

export const RotateKeyInput = z.object({
  /** The instance's name in the config: what the operator types to confirm. */
  instance: z.string(),
  /** Why the key is rotated, for the record; free text. */
  reason: z.string().optional(),
});
export type RotateKeyInput = z.infer<typeof RotateKeyInput>;

export const RotateKeyContext = RotateKeyInput.extend({
  facts: PreflightFacts.optional(),
  /** What changed between the facts and the confirmation, as sentences. */
  drift: z.array(z.string()),
  /** What became of the newest backup under the old key before the rotation. */
  oldBackup: z
    .object({
      purpose: z.enum(['prove', 'archive']),
      file: DownloadedFile.optional(),
      verification: Verification.optional(),
    })
    .optional(),
  keyOrigin: z.enum(['generated', 'given']),
  given: z.object({ fingerprint: Fingerprint, length: z.number() }).optional(),
  key: StoredKey.optional(),
  setting: KeySetting.extend({ outside: z.string().optional() }).optional(),
  /** How many intents to create a backup were given out; the number names the current one. */
  intents: z.number(),
  /** Sends proven not to have arrived, one after the other. */
  absences: z.number(),
  backup: z.object({ id: z.number(), adopted: z.boolean(), facts: BackupFacts.optional() }).optional(),
  file: DownloadedFile.optional(),
  verification: Verification.optional(),
  negative: NegativeTest.optional(),
  proven: z.boolean(),
  failure: Failure.optional(),
  skipped: z.array(z.object({ step: z.string(), reason: z.string() })),
});
export type RotateKeyContext = z.infer<typeof RotateKeyContext>;

export type RotateKeyEvent =
  | { type: 'operator.prove' }
  | { type: 'operator.archive' }
  | { type: 'operator.generate' }
  | { type: 'operator.enterKey' }
  | { type: 'operator.provideKey'; fingerprint: string; length: number }
  | { type: 'operator.back' }
  | { type: 'operator.confirm'; typed: string }
  | { type: 'operator.goOn' }
  | { type: 'operator.giveUp' }
  | { type: 'operator.setAgain' }
  | { type: 'operator.adopt'; id: number }
  | { type: 'operator.sendAgain' }
  | { type: 'operator.lookAgain' }
  | { type: 'operator.retry' }
  | { type: 'operator.skip'; text: string }
  | { type: 'operator.markDone'; text: string }
  | { type: 'operator.stop' };

export function startingContext(input: RotateKeyInput): RotateKeyContext {
  return {
    ...input,
    drift: [],
    keyOrigin: 'generated',
    intents: 1,
    absences: 0,
    proven: false,
    skipped: [],
  };
}
