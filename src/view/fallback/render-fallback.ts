import type {
  FallbackAction,
  FallbackCall,
  FallbackSide,
  FallbackStep,
  FallbackValue,
} from '../../../machines/parts/fallback-step.ts';
import type { Runbook } from '../../../machines/parts/runbook.ts';
import { metaAt, fallbackOf as stepsByHand } from '../../../machines/parts/states.ts';
import { formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import { viewClosed } from '../view-follow-ups.ts';
import { viewFact } from '../view-outcome.ts';
import { HELPERS } from './helpers.ts';
import {
  isTypeable,
  jsonShown,
  jsonWord,
  pathPart,
  placeholder,
  plain,
  quoted,
  remark,
  variable,
  word,
} from './shell-text.ts';

interface FallbackWish {
  readonly runbook: Runbook;
  readonly state: string;
  /** In that state. */
  readonly context: unknown;
  readonly runId: string;
  /** Default: this run. */
  readonly resume?: string | undefined;
  /** For the script's own instructions. */
  readonly path: string;
  readonly instances: FallbackInstances;
  readonly now: Date;
  readonly rehearsal?: boolean;
}

/** `curl`, `openssl` and `cf` commands that do the rest of a run. Printable. Pure. */
export function fallbackOf(wish: FallbackWish): string {
  const { runbook, state, context, runId, resume, path, instances, now, rehearsal } = wish;
  const steps = stepsByHand(runbook.machine, context, state);
  const head = {
    runId,
    resume,
    title: runbook.titleOf?.(context as never) ?? runbook.title,
    at: metaAt(runbook.machine, state)?.title ?? state,
    writtenAt: now,
    path,
    known: knownBy(runbook, context),
    rehearsal,
  };
  return renderFallback(head, steps, instances);
}

/** Also closed follow-ups, so that they are not done again. */
function knownBy(runbook: Runbook, context: unknown): string[] {
  const facts = runbook.facts(context as never).map(viewFact);
  const followUps = runbook.followUps?.(context as never) ?? [];
  return [
    ...facts.map(({ label, value }) => `${label}: ${value}`),
    ...followUps.flatMap(({ what, closed }) =>
      closed === undefined ? [] : [`closed: ${what} (${viewClosed(closed).text})`],
    ),
  ];
}

interface FallbackHead {
  readonly runId: string;
  readonly resume?: string | undefined;
  readonly title: string;
  /** The run's step when the script was written. */
  readonly at: string;
  readonly writtenAt: Date;
  readonly path: string;
  readonly rehearsal?: boolean | undefined;
  /** The reader needs these to continue. */
  readonly known?: readonly string[];
}

/** More than any run knows; keeps the commands visible. */
const MAX_KNOWN = 60;

/**
 * One bash script: readable, runnable (`bash FILE`), and usable line by line. It holds no secret. Every
 * foreign text is one quoted word or one comment. Pure.
 */
export function renderFallback(
  head: FallbackHead,
  steps: readonly FallbackStep[],
  instances: FallbackInstances,
): string {
  const body = steps.flatMap((step, index) => renderStep(step, index + 1, instances, head.runId));
  const end =
    steps.length === 0
      ? ["say 'This run has nothing left to do.'"]
      : ["say '' 'That was the last step. Write down what was done, when and by whom.'"];
  return `${[
    ...headLines(head, steps, instances),
    '',
    '# ---- where things are ----',
    ...instanceLines('INSTANCE', instances.instance),
    ...instanceLines('TARGET', instances.target ?? instances.instance),
    '',
    '# ---- helpers ----',
    HELPERS,
    '# ---- the steps ----',
    ...clearing(body),
    '',
    ...body,
    ...end,
  ].join('\n')}\n`;
}

function headLines(
  head: FallbackHead,
  steps: readonly FallbackStep[],
  instances: FallbackInstances,
): readonly string[] {
  const { instance, target } = instances;
  const into = target === undefined ? '' : ` into ${target.name}`;
  return [
    '#!/usr/bin/env bash',
    remark(
      `FALLBACK SCRIPT${head.rehearsal === true ? ' (a rehearsal)' : ''}: the rest of a recovery, without lifeboat`,
    ),
    '#',
    remark(`run      ${head.runId}`),
    remark(`runbook  ${head.title}`),
    remark(`instance ${instance.name}${into}`),
    remark(`state    ${head.at}`),
    remark(`written  ${formatTime(head.writtenAt.toISOString())} UTC`),
    '#',
    '# Use it when lifeboat, its machine or its keychain is gone. As long as lifeboat can go on, let it:',
    remark(`  lifeboat resume ${head.resume ?? head.runId}`),
    '# Never use both at once: a call could be made twice.',
    '#',
    remark(`To run it:     bash ${quoted(head.path)}`),
    '# By hand:       start bash, paste everything down to "the steps", then the steps one by one.',
    '#                The comment above each call is the same call with curl alone.',
    '# It needs bash, curl, openssl, gunzip and tar; for applications cf, logged in.',
    '# It asks before every step. It holds no secret: token and keys are asked for, and are not shown.',
    '#',
    ...knownLines(head.known ?? []),
    ...(steps.length === 0
      ? ['# Nothing is left to be done.']
      : [
          '# What is left:',
          ...steps.map(({ title }, index) => remark(`${String(index + 1).padStart(4)}. ${title}`)),
        ]),
  ];
}

function knownLines(known: readonly string[]): readonly string[] {
  if (known.length === 0) return [];
  return ['# What the run has found and done:', ...known.slice(0, MAX_KNOWN).map(sayKnown), '#'];
}

function sayKnown(line: string): string {
  return remark(`  ${line}`);
}

/** Unsets variables of the caller's environment, which would be taken for answers. */
function clearing(body: readonly string[]): readonly string[] {
  const asked = body.flatMap((line) =>
    [...line.matchAll(/^\s*(?:ask|ask_secret|choose_key|keep) ([A-Z][A-Z0-9_]*)\b/gu)].map(
      ([, name]) => name,
    ),
  );
  return asked.length === 0 ? [] : [`unset -v ${[...new Set(asked)].join(' ')}`];
}

function instanceLines(prefix: 'INSTANCE' | 'TARGET', instance: FallbackInstance): readonly string[] {
  const { v1, v0 } = basesOf(instance);
  return [
    remark(
      `${instance.name}, interface ${instance.revision === 'v0' ? 'V0' : `V1 of revision ${instance.revision}`}`,
    ),
    `${prefix}_V1=${quoted(v1)}`,
    `${prefix}_V0=${quoted(v0)}`,
    `${prefix}_CA=${quoted(instance.ca ?? '')}`,
    `${prefix}_TOKEN=${quoted(instance.tokenHow)}`,
  ];
}

function renderStep(
  step: FallbackStep,
  number: number,
  instances: FallbackInstances,
  runId: string,
): readonly string[] {
  const opening = [`if step ${number} ${quoted(step.title)}`, ...step.notes.map(quoted)].join(' \\\n  ');
  const lines = step.actions.flatMap((action) => renderAction(action, instances, runId));
  const indented = lines.map((line) => `  ${line.replaceAll('\n', '\n  ')}`);
  return [`${opening}; then`, ...(indented.length === 0 ? ['  :'] : indented), 'fi', ''];
}

type Of<Kind extends FallbackAction['do']> = Extract<FallbackAction, { readonly do: Kind }>;

/** Asks for a value whose step was skipped. */
function renderAction(
  action: FallbackAction,
  instances: FallbackInstances,
  runId: string,
): readonly string[] {
  return [...needsOf(action), ...linesOf(action, instances, runId)];
}

function linesOf(action: FallbackAction, instances: FallbackInstances, runId: string): readonly string[] {
  switch (action.do) {
    case 'call':
      return renderCall(action, instances);
    case 'wait':
      return renderWait(action, instances);
    case 'wait-instance':
      return [renderWaitInstance(action, instances)];
    case 'download-and-open':
      return renderOpening(action, instances);
    case 'ask-secret':
      return [`ask_secret ${nameOf(action.as)} ${quoted(action.what)}`];
    case 'choose-key':
      return [
        `choose_key ${nameOf(action.as)} ${quoted(action.what)} ${quoted(`./new-key-${fileName(runId)}`)}`,
      ];
    case 'ask':
      return [
        `ask ${nameOf(action.as)} ${quoted(action.what)}` +
          `${action.suggested === undefined ? '' : ` ${quoted(action.suggested)}`}`,
      ];
    case 'confirm-name':
      return [`confirm_name ${quoted(action.name)} ${quoted(action.what)}`];
    case 'run':
      return [renderRun(action)];
    case 'by-hand':
      return [renderByHand(action)];
  }
}

function renderByHand({ what, copy = [] }: Of<'by-hand'>): string {
  return [`by_hand ${quoted(what)}`, ...copy.map((line) => quoted(`  ${line}`))].join(' \\\n  ');
}

function renderRun({ command, otherwise }: Of<'run'>): string {
  if (![...command, ...(otherwise?.command ?? [])].every(isTypeable)) {
    return renderByHand({
      do: 'by-hand',
      what: 'A name in this command cannot be typed as it is. Do it another way, by the ids of the platform.',
      copy: [command.join(' ')],
    });
  }
  const words = command.map(plain).join(' ');
  if (otherwise === undefined) return `run ${words}`;
  const other = otherwise.command.map(plain).join(' ');
  return [`run_or ${quoted(otherwise.when)} ${command.length} ${words}`, other].join(' \\\n  ');
}

function needsOf(action: FallbackAction): readonly string[] {
  const values: FallbackValue[] = [];
  if ('id' in action && action.id !== undefined) values.push(action.id);
  if (action.do === 'call')
    for (const field of Object.values(action.body ?? {})) if ('what' in field) values.push(field);
  return values.flatMap((value) =>
    'known' in value ? [] : [`ask ${nameOf(value.variable)} ${quoted(value.what)}`],
  );
}

function renderWait({ on, task, id }: Of<'wait'>, instances: FallbackInstances): readonly string[] {
  const what = `${task} ${'known' in id ? show(id.known, 40) : variable(id.variable).slice(1, -1)}`;
  if (instanceOn(instances, on).revision === 'v0') {
    return [
      `call ${on} GET ${variable(`${prefixOf(on)}_V0`)}/backups`,
      `by_hand ${quoted(`Look for ${what} in the list, and ask again until its status is done.`)}`,
    ];
  }
  const shown = 'known' in id ? quoted(what) : `"${what}"`;
  return [`wait_task ${on} ${addressOf(on)}/${task}s/${idWord(id)} ${shown}`];
}

function renderWaitInstance({ on, since }: Of<'wait-instance'>, instances: FallbackInstances): string {
  const { name, revision } = instanceOn(instances, on);
  if (revision === 'v0') return `by_hand ${quoted(`Look in the dashboard until ${name} is available.`)}`;
  return `wait_instance ${on} ${addressOf(on)}${since === undefined ? '' : ` ${quoted(since)}`}`;
}

function renderOpening(action: Of<'download-and-open'>, instances: FallbackInstances): readonly string[] {
  const { on, id, key, file } = action;
  const { name, revision } = instanceOn(instances, on);
  const path =
    file === undefined
      ? `./backup-${fileName(name)}-${'known' in id ? fileName(id.known) : `"$${nameOf(id.variable)}"`}.tgz.enc`
      : quoted(file);
  const ways = DOWNLOAD_WAYS[revision].map((way) => {
    const base = variable(`${prefixOf(on)}_${way === 'v1' ? 'V1' : 'V0'}`);
    return `${way === 'v0-post' ? 'POST' : 'GET'} ${base}/backups/${idWord(id)}/download`;
  });
  return [
    remark('openssl enc -d -aes-256-cbc -md md5 -pass file:<KEY FILE> -in <FILE> | gunzip -c | tar -t'),
    `FILE=${path}`,
    `until fetch ${on} "$FILE" ${ways.join(' \\\n  ')}; do`,
    "  failed 'It is not downloaded.' || break",
    'done',
    `until [ ! -s "$FILE" ] || open_file "$FILE" ${variable(key)}; do`,
    "  failed 'The backup is not proven. again: with another key.' || break",
    `  unset -v ${nameOf(key)}`,
    `  ask_secret ${nameOf(key)} 'the key'`,
    'done',
  ];
}

function addressOf(side: FallbackSide): string {
  return variable(`${prefixOf(side)}_V1`);
}

function idWord(id: FallbackValue): string {
  return 'known' in id ? pathPart(id.known) : word(id);
}

function fileName(text: string): string {
  return text.replace(/[^\w.-]/gu, '_').slice(0, 60);
}

/** With curl alone, then the line of the script. */
function renderCall(call: FallbackCall, instances: FallbackInstances): readonly string[] {
  const instance = instanceOn(instances, call.on);
  if (instance.revision === 'v0' && !hasV0(call)) return [notInV0(call)];
  const base = instance.revision === 'v0' ? 'v0' : 'v1';
  const path = instance.revision === 'v0' ? pathInV0(call) : call.path;
  const lookUp = `${basesOf(instanceOn(instances, call.on))[base]}${shownPath(call, path)}`;
  const body = instance.revision === 'v0' ? bodyInV0(call) : call.body;
  const asking =
    instance.revision === 'v0' && body !== undefined
      ? [
          `ask INTERNAL_ID ${quoted('the number of the instance itself: "id" at the head of its list of backups')}`,
        ]
      : [];
  const curl = [
    `curl -X ${call.method} -H 'Authorization: <TOKEN>'`,
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json' -d ${quoted(jsonShown(body))}`]),
    quoted(lookUp),
  ].join(' ');
  const address = `${variable(`${prefixOf(call.on)}_${base.toUpperCase()}`)}${wordPath(call, path)}`;
  const bodyWord = body === undefined ? '' : ` ${jsonWord(body)}`;
  if (call.once === undefined) {
    const keep = call.keep === undefined ? [] : [`keep ${nameOf(call.keep.as)} ${plain(call.keep.field)}`];
    return [remark(curl, 2_000), ...asking, `call ${call.on} ${call.method} ${address}${bodyWord}`, ...keep];
  }
  const list = `${variable(`${prefixOf(call.on)}_${base.toUpperCase()}`)}${base === 'v0' ? '/backups' : call.once.list}`;
  return [
    remark(curl, 2_000),
    ...asking,
    [
      `once ${call.on} ${call.method} ${address} ${list}`,
      call.keep === undefined ? "'' ''" : `${nameOf(call.keep.as)} ${plain(call.keep.field)}`,
      quoted(call.once.lookFirst),
      ...(body === undefined ? [] : [jsonWord(body)]),
    ].join(' \\\n  '),
  ];
}

/** The run's own instance if the script has no address of the target. */
function instanceOn(instances: FallbackInstances, side: FallbackSide) {
  return side === 'target' && instances.target !== undefined ? instances.target : instances.instance;
}

function prefixOf(side: FallbackSide): 'INSTANCE' | 'TARGET' {
  return side === 'target' ? 'TARGET' : 'INSTANCE';
}

/** Without `"$` and `"`, for functions that set a variable. */
function nameOf(name: string): string {
  return variable(name).slice(2, -1);
}

function hasV0({ method, path }: FallbackCall): boolean {
  if (method === 'GET' && path.startsWith('/restores')) return true;
  return path.startsWith('/backups') && path !== '/backups-config' && method !== 'PATCH';
}

function notInV0({ method, path }: FallbackCall): string {
  const what =
    `the old interface of this instance does not have ${method} ${path}: ` +
    'do it in the dashboard, or ask the operator of the service';
  return `by_hand ${quoted(what)}`;
}

function pathInV0({ path, method }: FallbackCall): string {
  return method === 'POST' && path.endsWith('/restore') ? '/backups/restore' : '/backups';
}

/** Service-api.md section 4.4: the body of a restore names both ids. */
function bodyInV0(call: FallbackCall): FallbackCall['body'] {
  if (call.method !== 'POST' || !call.path.endsWith('/restore') || call.id === undefined) return undefined;
  return {
    instance_id: { number: { variable: 'INTERNAL_ID', what: '' } },
    backup_id: { number: call.id },
  };
}

function shownPath(call: FallbackCall, path: string): string {
  return path.replace(':id', call.id === undefined ? ':id' : placeholder(call.id));
}

function wordPath(call: FallbackCall, path: string): string {
  if (path === '') return '';
  const [before = '', after] = path.split(':id');
  if (after === undefined || call.id === undefined) return before;
  const id = 'known' in call.id ? pathPart(call.id.known) : variable(call.id.variable);
  return `${before}${id}${after}`;
}

export interface FallbackInstance {
  /** As in the config. */
  readonly name: string;
  /** The dashboard address, or its V1 form. */
  readonly url: string;
  readonly revision: 61 | 62 | 'v0';
  /** PEM file with further certificate authorities. */
  readonly ca?: string;
  /** In words, or the command that prints it: `cf oauth-token`. */
  readonly tokenHow: string;
}

/** `target`: the instance that a recovery goes into. */
export interface FallbackInstances {
  readonly instance: FallbackInstance;
  readonly target?: FallbackInstance;
}

/** Without a slash at the end (service-api.md section 4). */
function basesOf({ url }: FallbackInstance): { readonly v1: string; readonly v0: string } {
  const clean = show(url, 2_000).replace(/\/+$/u, '');
  const found = /^(?<before>.*)\/(?:service-instances|v1\/instances)\/(?<id>[^/]*)$/u.exec(clean)?.groups;
  if (found === undefined) return { v1: clean, v0: clean };
  return {
    v1: `${found['before']}/v1/instances/${found['id']}`,
    v0: `${found['before']}/service-instances/${found['id']}`,
  };
}

/** In the order of service-api.md section 4.3, as the client tries them. */
const DOWNLOAD_WAYS: Readonly<Record<FallbackInstance['revision'], readonly ('v1' | 'v0' | 'v0-post')[]>> = {
  61: ['v1', 'v0', 'v0-post'],
  62: ['v0', 'v1', 'v0-post'],
  v0: ['v0', 'v0-post', 'v1'],
};
