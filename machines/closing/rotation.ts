import type { RunContext } from '../context.ts';
import type { Closing, Fact } from '../parts/runbook.ts';
import { landedOf } from '../parts/task-data.ts';
import { backupsBeside } from './evaluate.ts';
import { downloadFacts, fact, filled, noteFacts, taskFact, timeFact, verdictFact } from './facts.ts';

/** Most important first. */
export function rotationFacts(context: RunContext): Fact[] {
  return [...keyFacts(context), ...proofFacts(context), ...instanceFacts(context)];
}

/** Only `done` with a record that proves makes it proven. */
export function closingOfRotation(context: RunContext, finalState: string): Closing {
  const deviations = deviationsOf(context);
  const summary = filled([
    { title: 'the key', facts: keyFacts(context) },
    { title: 'what proves it', facts: proofFacts(context) },
  ]);
  if (finalState === 'done' && context.record.isProven) {
    const { leaves = [] } = context.record;
    const title = 'the key is rotated and proven';
    const later = leaves.length === 0 ? {} : { leaves };
    return { outcome: 'done', proven: true, title, summary, deviations, ...later };
  }
  if (finalState === 'stopped') {
    return { outcome: 'stopped', proven: false, title: stoppedTitle(context), summary, deviations };
  }
  return {
    outcome: 'done-unproven',
    proven: false,
    title: 'closed without proof: the new key is not shown to work',
    summary,
    deviations,
  };
}

function stoppedTitle(context: RunContext): string {
  const { setting } = context.key;
  if (setting === undefined) return 'stopped before the key was changed';
  if (setting.answer === 'unknown')
    return 'stopped while it is uncertain which key is in force; both are kept';
  return 'stopped after the key was changed; the new key is kept and not yet proven';
}

function deviationsOf(context: RunContext): { step: string; reason: string }[] {
  const outside = context.key.setting?.outside;
  return [
    ...context.skipped,
    ...(outside === undefined ? [] : [{ step: 'change', reason: `done outside: ${outside}` }]),
    ...(context.proof.negative?.tested.length === 0
      ? [{ step: 'negative', reason: 'no other key of this instance is held here, so none could be tried' }]
      : []),
  ];
}

function keyFacts(context: RunContext): Fact[] {
  const { stored: key } = context.key;
  const { facts } = context.preflight;
  return [
    ...fact('new key', key && `${key.fingerprint} (${key.length} characters, ${key.origin})`),
    ...fact('stored in', key?.store),
    ...fact(
      'old key',
      facts && (facts.currentKey ?? context.oldBackup.verification?.opens ?? oldKeyUnknown(facts.keysHeld)),
    ),
    ...settingFact(context),
  ];
}

function oldKeyUnknown(held: readonly string[]): string {
  return held.length === 0 ? 'none held here' : `not known; held here: ${held.join(', ')}`;
}

function settingFact({ key: { setting, stored: key }, proof, backup }: RunContext): Fact[] {
  const label = 'key change';
  const { verification } = proof;
  const { id } = landedOf(backup) ?? {};
  if (setting === undefined) return [];
  const isShown = verification !== undefined && verification.opens === key?.fingerprint;
  if (setting.outside !== undefined)
    return fact(label, isShown ? `done outside; backup ${id} shows it` : 'done outside', { tone: 'warn' });
  if (setting.answer === 'accepted') return fact(label, 'accepted by the service', { tone: 'good' });
  return isShown
    ? fact(label, `answer lost; backup ${id} shows that it was made`, { tone: 'good' })
    : fact(label, 'answer lost: KEY UNCERTAIN', { tone: 'warn' });
}

function proofFacts(context: RunContext): Fact[] {
  const { backup, proof, oldBackup } = context;
  const { file, verification, negative } = proof;
  const old = oldBackup.verification;
  return [
    ...fact('old backup', old && `${old.verdict}, opened with key ${old.opens}`, { tone: 'good' }),
    ...taskFact('backup', backup),
    ...fact('beside', backupsBeside(context), { tone: 'warn' }),
    // A file that a person gave has no size here, and was not looked at from outside.
    ...(file === undefined || file.bytes === 0
      ? []
      : [...fact('downloaded', file.bytes, { unit: 'bytes' }), ...downloadFacts(file)]),
    ...verdictFact(verification),
    ...fact('content', verification?.contentBytes, { unit: 'bytes' }),
    ...fact('sha256 (encrypted)', verification?.cipherSha256),
    ...fact('sha256 (content)', verification?.contentSha256),
    ...(negative === undefined ? [] : [negativeFact(negative)]),
  ];
}

function negativeFact({ tested, opened }: NonNullable<RunContext['proof']['negative']>): Fact {
  if (opened.length > 0)
    return { label: 'old keys', value: `${opened.join(', ')} STILL OPENS IT`, tone: 'bad' };
  if (tested.length === 0) return { label: 'old keys', value: 'none held, none tried', tone: 'warn' };
  return { label: 'old keys', value: `${tested.join(', ')} refused`, tone: 'good' };
}

/** As found before any change, so the labels say "before". */
function instanceFacts({ preflight: { facts } }: RunContext): Fact[] {
  if (facts === undefined) return [];
  const { newest, backups } = facts;
  return [
    ...noteFacts(facts.warnings),
    ...fact('service name', facts.service.name ?? 'not reported'),
    ...fact('state before', facts.service.state ?? 'not reported'),
    ...fact(
      'rights',
      'may read; only sending the key shows whether it may change, and a refusal changes nothing',
    ),
    ...fact('minimum key length', facts.baseline.minKeyLength ?? 'not reported'),
    ...fact('backups before', `${backups.total}, ${backups.downloadable} of them downloadable`),
    ...timeFact('newest backup before', newest?.finishedAt),
    ...fact('retention', facts.retentionDays, { unit: 'days' }),
    ...fact('key store', facts.keyStore),
    ...fact('clock skew', facts.clockSkewSeconds, { unit: 'seconds' }),
    ...timeFact('token expires', facts.tokenExpires),
  ];
}
