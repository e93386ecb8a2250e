import type { RunContext } from '../context.ts';
import type { Closing, Fact } from '../parts/runbook.ts';
import { downloadFacts, filled } from './facts.ts';

/** The facts beside the prose, most important first. */
export function rotationFacts(context: RunContext): Fact[] {
  return [...keyFacts(context), ...proofFacts(context), ...instanceFacts(context)];
}

/** What a finished run says of itself. Only `done` with a record that proves makes it proven. */
export function closingOfRotation(context: RunContext, finalState: string): Closing {
  const deviations = deviationsOf(context);
  const summary = filled([
    { title: 'the key', facts: keyFacts(context) },
    { title: 'what proves it', facts: proofFacts(context) },
  ]);
  if (finalState === 'done' && context.record.isProven) {
    return { outcome: 'done', proven: true, title: 'the key is rotated and proven', summary, deviations };
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
  const setting = settingFact(context);
  return [
    ...(key === undefined
      ? []
      : [
          { label: 'new key', value: `${key.fingerprint} (${key.length} characters, ${key.origin})` },
          { label: 'stored in', value: key.store },
        ]),
    ...(facts === undefined
      ? []
      : [
          {
            label: 'old key',
            value: facts.currentKey ?? context.oldBackup.verification?.opens ?? oldKeyUnknown(facts.keysHeld),
          },
        ]),
    ...(setting === undefined ? [] : [setting]),
  ];
}

function oldKeyUnknown(held: readonly string[]): string {
  return held.length === 0 ? 'none held here' : `not known; held here: ${held.join(', ')}`;
}

function settingFact({ key: { setting, stored: key }, proof, backup }: RunContext): Fact | undefined {
  const label = 'key change';
  const { verification } = proof;
  const { id } = backup.landed ?? {};
  if (setting === undefined) return undefined;
  const isShown = verification !== undefined && verification.opens === key?.fingerprint;
  if (setting.outside !== undefined)
    return {
      label,
      value: isShown ? `done outside; backup ${id} shows it` : 'done outside',
      tone: 'warn',
    };
  if (setting.answer === 'accepted') return { label, value: 'accepted by the service', tone: 'good' };
  if (isShown) return { label, value: `answer lost; backup ${id} shows that it was made`, tone: 'good' };
  return { label, value: 'answer lost: KEY UNCERTAIN', tone: 'warn' };
}

function proofFacts({ backup, proof, oldBackup }: RunContext): Fact[] {
  const { file, verification, negative } = proof;
  const { landed, backup: facts } = backup;
  const old = oldBackup.verification;
  return [
    ...(old === undefined
      ? []
      : [
          {
            label: 'old backup',
            value: `${old.verdict}, opened with key ${old.opens}`,
            tone: 'good' as const,
          },
        ]),
    ...(landed === undefined
      ? []
      : [
          {
            label: 'backup',
            value: `${landed.id}${landed.adopted ? ' (adopted)' : ''}, ${facts?.status ?? 'asked for'}`,
          },
        ]),
    ...(file === undefined || file.bytes === 0
      ? []
      : [{ label: 'downloaded', value: file.bytes, unit: 'bytes' as const }, ...downloadFacts(file)]),
    ...(verification === undefined
      ? []
      : [
          {
            label: 'verdict',
            value: `${verification.verdict} with key ${verification.opens}`,
            tone: 'good' as const,
          },
          { label: 'content', value: verification.contentBytes, unit: 'bytes' as const },
          { label: 'sha256 (encrypted)', value: verification.cipherSha256 },
          { label: 'sha256 (content)', value: verification.contentSha256 },
        ]),
    ...(negative === undefined ? [] : [negativeFact(negative)]),
  ];
}

function negativeFact({ tested, opened }: NonNullable<RunContext['proof']['negative']>): Fact {
  if (opened.length > 0)
    return { label: 'old keys', value: `${opened.join(', ')} STILL OPENS IT`, tone: 'bad' };
  if (tested.length === 0) return { label: 'old keys', value: 'none held, none tried', tone: 'warn' };
  return { label: 'old keys', value: `${tested.join(', ')} refused`, tone: 'good' };
}

/** As the run found it before it changed anything: these facts stay on the screen, labelled as of before. */
function instanceFacts({ preflight: { facts } }: RunContext): Fact[] {
  if (facts === undefined) return [];
  const { newest, backups } = facts;
  return [
    ...facts.warnings.map((warning): Fact => ({ label: 'note', value: warning, tone: 'warn' })),
    { label: 'service name', value: facts.service.name ?? 'not reported' },
    { label: 'state before', value: facts.service.state ?? 'not reported' },
    {
      label: 'rights',
      value: 'may read; whether it may change shows only when the key is sent, and a refusal changes nothing',
    },
    { label: 'minimum key length', value: facts.baseline.minKeyLength ?? 'not reported' },
    {
      label: 'backups before',
      value: `${backups.total}, ${backups.downloadable} of them downloadable`,
    },
    ...(newest?.finishedAt === undefined
      ? []
      : [{ label: 'newest backup before', value: newest.finishedAt, unit: 'time' as const }]),
    ...(facts.retentionDays === undefined
      ? []
      : [{ label: 'retention', value: facts.retentionDays, unit: 'days' as const }]),
    { label: 'key store', value: facts.keyStore },
    ...(facts.clockSkewSeconds === undefined
      ? []
      : [{ label: 'clock skew', value: facts.clockSkewSeconds, unit: 'seconds' as const }]),
    ...(facts.tokenExpires === undefined
      ? []
      : [{ label: 'token expires', value: facts.tokenExpires, unit: 'time' as const }]),
  ];
}
