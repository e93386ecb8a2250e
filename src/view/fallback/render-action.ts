import type { FallbackAction, FallbackSide, FallbackValue } from '../../../machines/parts/fallback-step.ts';
import { show } from '../../base/text.ts';
import {
  DOWNLOAD_WAYS,
  type FallbackInstances,
  instanceOn,
  nameOf,
  prefixOf,
  renderCall,
} from './render-call.ts';
import { isTypeable, pathPart, plain, quoted, remark, variable, word } from './shell-text.ts';

type Of<Kind extends FallbackAction['do']> = Extract<FallbackAction, { readonly do: Kind }>;

/**
 * The lines of the script for one action; values that an earlier step keeps are asked for when that step was
 * skipped.
 */
export function renderAction(
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
