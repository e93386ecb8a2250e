import type { Failure } from '../../src/base/failure.ts';
import { counted } from '../../src/base/quantity.ts';
import { shellQuoted } from '../../src/base/shell-quote.ts';
import { boundFrom, type CfCall, keyCalls, rebindCalls, targetCalls, wordsOf } from '../closing/cf-calls.ts';
import {
  credentials,
  endOf,
  isWithoutPlatform,
  platformInstance,
  rebindId,
  restoredName,
  restoredSide,
  serviceKeyId,
} from '../closing/evaluate.ts';
import type { RunContext } from '../context.ts';
import type { Closure, FollowUp } from '../parts/follow-up.ts';
import type { Bound, BoundApp, ServiceKey } from '../parts/recovery-data.ts';
import { leftToRun } from '../parts/unfinished.ts';

export type PlatformStep = RunContext['followUps']['proofs'][number]['step'];

/**
 * A listed follow-up stays as it is, open or closed, whatever a later look at the platform shows. Only the
 * one that stands for unknown applications is dropped once they are known.
 */
export function withBound(context: RunContext): FollowUp[] {
  const found = followUpsAfterRestore(context);
  const kept = context.followUps.list.filter(
    ({ id, closed: closure }) => id !== UNKNOWN || closure !== undefined || areUnknown(context),
  );
  const known = new Set(kept.map(({ id }) => id));
  const current = kept.map((one) => withCommandsOfNow(one, found));
  return [...current, ...found.filter(({ id }) => !known.has(id))];
}

/** An open follow-up of an application shows the commands that the config has now. */
function withCommandsOfNow(followUp: FollowUp, found: readonly FollowUp[]): FollowUp {
  const now = found.find(({ id }) => id === followUp.id);
  const isOwn = [followUp, now].some((one) => one?.doable === 'command' || one?.doable === 'again');
  if (now === undefined || followUp.closed !== undefined || !isOwn) return followUp;
  const { what, commands } = now;
  const wasBegun = followUp.doable === 'again' && now.doable === 'command';
  return { ...followUp, what, commands, doable: wasBegun ? 'again' : now.doable };
}

const UNKNOWN = 'rebind-unknown';

/** Updates are forbidden, or may be. Opened before the call that forbids them. */
export function withRelease(context: RunContext): Partial<RunContext> {
  const { instance } = context.run;
  const release: FollowUp = {
    id: 'release-updates',
    kind: 'release-updates',
    subject: instance,
    what: `allow maintenance updates of ${instance} again`,
    commands: [`lifeboat instance settings --instance ${word(instance)} --allow-updates true`],
    doable: 'run',
  };
  const list = [...othersThanRelease(context), release];
  return { followUps: { ...context.followUps, list, doing: undefined } };
}

/** For a setting that was refused. */
export function withoutRelease(context: RunContext): Partial<RunContext> {
  return { followUps: { ...context.followUps, list: othersThanRelease(context) } };
}

function othersThanRelease({ followUps: { list } }: RunContext): FollowUp[] {
  return list.filter(({ id }) => id !== 'release-updates');
}

/** The old binding could not be removed; the application is bound to the restored data anyway. */
export function withOldBinding(context: RunContext, failure: Failure): Partial<RunContext> {
  const app = currentApp(context);
  if (app === undefined) return {};
  const from = boundFrom(context);
  const id = `old-binding-${app.key}`;
  const followUp: FollowUp = {
    id,
    kind: 'old-binding',
    subject: app.key,
    what: `remove the binding of ${app.key} to ${from.name}: its broker could not`,
    since: endOf(context.restore.restore),
    commands: linesOf([
      ...targetCalls(app),
      { word: 'unbind-service', names: [app.name, from.name], options: ['--wait'] },
    ]),
  };
  const proof = { outcome: 'not-needed' as const, text: failure.shortMessage, evidence: failure.evidence };
  const { proofs, list } = context.followUps;
  return {
    followUps: {
      ...context.followUps,
      proofs: [...proofs, { step: 'unbind', proof }],
      list: list.some((one) => one.id === id) ? list : [...list, followUp],
    },
  };
}

/** A closed follow-up keeps its closure; one that is skipped is also listed in `skipped`. */
export function closed(
  context: RunContext,
  id: string,
  given: Omit<Closure, 'evidence'> & Partial<Pick<Closure, 'evidence'>>,
): Pick<RunContext, 'followUps' | 'skipped'> & { failure: undefined } {
  const { followUps, skipped } = context;
  const { at, evidence = {}, ...rest } = given;
  const closure: Closure = { ...rest, at, evidence };
  return {
    failure: undefined,
    skipped: rest.how === 'skipped' ? [...skipped, { step: id, reason: rest.text }] : skipped,
    followUps: {
      ...followUps,
      ...(rest.how === 'hand' || rest.how === 'skipped' ? {} : { doing: undefined }),
      list: followUps.list.map((one) =>
        one.id === id && one.closed === undefined ? { ...one, closed: closure } : one,
      ),
    },
  };
}

export function isLeftToRun({ followUps: { list } }: RunContext): boolean {
  return leftToRun(list).length > 0;
}

export function currentApp({ followUps: { bound, doing } }: RunContext) {
  return bound?.apps.find(({ key }) => rebindId(key) === doing);
}

export function hasCommand(context: RunContext): boolean {
  return currentApp(context)?.reconnect !== undefined;
}

/** A command that was begun runs again only if a person says so. */
export function begun({ followUps: { list, doing } }: RunContext): FollowUp[] {
  return list.map((one) => (one.id === doing ? { ...one, doable: 'again' } : one));
}

export function currentKey({ followUps: { bound, doing } }: RunContext) {
  return bound?.keys.find(({ name }) => serviceKeyId(name) === doing);
}

function followUpsAfterRestore(context: RunContext): FollowUp[] {
  const { followUps } = context;
  const { bound } = followUps;
  const since = endOf(context.restore.restore) ?? bound?.foundAt;
  const doable = bound === undefined || bound.way === 'hand' ? undefined : bound.way;
  return [
    ...(bound?.apps ?? []).map((app) => ({ doable, ...rebinding(context, app) })),
    ...(bound?.unseen ?? []).map(unseenApps),
    ...(areUnknown(context) ? [unknownApps(context)] : []),
    ...(bound?.keys ?? []).map((key) => ({ ...keyRenewal(context, key), doable })),
    ...ofRun(context),
  ].map((followUp): FollowUp => ({ ...followUp, since }));
}

/** If no platform could be asked, there may be more applications than are known. */
function areUnknown({ followUps: { bound } }: RunContext): boolean {
  return bound === undefined || bound.unasked === true;
}

function rebinding(context: RunContext, app: BoundApp): FollowUp {
  const { key, owner, reconnect } = app;
  const head = { id: rebindId(key), kind: 'rebind', subject: key, owner } as const;
  if (reconnect !== undefined) {
    const commands = [reconnect.command, reconnect.proof].map((argv) => argv.map(word).join(' '));
    return { ...head, what: `give ${key} ${credentials(context)}`, commands, doable: 'command' };
  }
  if (isWithoutPlatform(context))
    return { ...head, what: `give ${key} ${credentials(context)} and restart it`, commands: [] };
  const isStopped = app.running === false;
  return {
    ...head,
    what: isStopped
      ? `unbind and bind ${key} (it is stopped, so it is not restaged)`
      : `unbind, bind and restage ${key}`,
    commands: linesOf([...targetCalls(app), ...rebindCalls(context, app)]),
  };
}

/** One line for each call, followed by its form without a name. */
function linesOf(calls: readonly CfCall[]): string[] {
  return calls.flatMap(({ withoutName, ...call }) => [
    lineOf(call),
    ...(withoutName === undefined ? [] : [`# if the name is in use: ${lineOf(withoutName)}`]),
  ]);
}

function lineOf(call: CfCall): string {
  return wordsOf(call).map(word).join(' ');
}

function keyRenewal(context: RunContext, key: ServiceKey): FollowUp {
  const { name } = key;
  return {
    id: serviceKeyId(name),
    kind: 'service-key',
    subject: name,
    what: `recreate service key ${name}, and give it to whoever uses it`,
    commands: linesOf([...targetCalls(platformInstance(context)), ...keyCalls(context, key)]),
  };
}

function unseenApps({ space, apps }: Bound['unseen'][number]): FollowUp {
  return {
    id: `rebind-unseen-${space}`,
    kind: 'rebind',
    subject: `${apps} in space ${space}`,
    what: `have ${counted(apps, 'application')} in space ${space} unbound, bound and restaged: this token cannot see that space`,
    commands: [],
  };
}

function unknownApps(context: RunContext): FollowUp {
  return {
    id: UNKNOWN,
    kind: 'rebind',
    subject: restoredName(context),
    ...(isWithoutPlatform(context)
      ? {
          what: `find every application that uses ${context.run.instance}, then give it ${credentials(context)} and restart it: which they are is not known`,
          commands: [],
        }
      : {
          what: 'find every bound application, then unbind, bind and restage it: which are bound is not known',
          commands: [`cf service ${word(context.run.instance)}`],
        }),
  };
}

/** What the run itself does, and the removal of a rehearsal's target. */
function ofRun(context: RunContext): FollowUp[] {
  const name = restoredName(context);
  const isElsewhere = restoredSide(context) === 'target';
  const fresh: FollowUp = {
    id: 'fresh-backup',
    kind: 'fresh-backup',
    subject: name,
    what: freshWords(context, name, isElsewhere),
    commands: [
      ...(isElsewhere
        ? [`lifeboat backup-config set --instance ${word(name)} --new-key --anyway 'the run waits for it'`]
        : []),
      `lifeboat backups create --instance ${word(name)}`,
    ],
    doable: 'run',
  };
  const card: FollowUp = {
    id: 'renew-card',
    kind: 'renew-card',
    subject: name,
    what: `make a recovery card for ${name} as it is now`,
    commands: [`lifeboat run disaster-recovery --prepare --instance ${word(name)}`],
    doable: 'run',
  };
  const removal: FollowUp = {
    id: 'remove-target',
    kind: 'remove-target',
    subject: name,
    what: `remove the rehearsal's target ${name}`,
    commands: isWithoutPlatform(context)
      ? []
      : [`cf delete-service ${word(context.followUps.bound?.to?.name ?? name)}`],
  };
  return [
    fresh,
    ...(isElsewhere || context.card.onRecord?.card !== undefined ? [card] : []),
    ...(isElsewhere && context.run.rehearsal === true ? [removal] : []),
  ];
}

function freshWords({ choose: { time } }: RunContext, name: string, isElsewhere: boolean): string {
  if (isElsewhere) return `back up ${name}; if it has no key of its own yet, set one first`;
  return time === undefined ? `back up ${name} as it is now` : `back up ${name}: it is on a new timeline`;
}

/** Quotes anything but plain text and leaves control characters out. */
function word(text: string): string {
  const clean = text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '');
  return shellQuoted(clean);
}
