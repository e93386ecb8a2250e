import type { FallbackCall, FallbackSide } from '../../../machines/parts/fallback-step.ts';
import { show } from '../../base/text.ts';
import { jsonShown, jsonWord, pathPart, placeholder, plain, quoted, remark, variable } from './shell-text.ts';

/** A call of the service: what it looks like with only curl, and the line of the script that makes it. */
export function renderCall(call: FallbackCall, instances: FallbackInstances): readonly string[] {
  const instance = instanceOn(instances, call.on);
  if (instance.revision === 'v0' && !hasV0(call)) return [notInV0(call)];
  const base = instance.revision === 'v0' ? 'v0' : 'v1';
  const path = instance.revision === 'v0' ? pathInV0(call) : call.path;
  const lookUp = `${plainBase(instances, call.on, base)}${shownPath(call, path)}`;
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

/** The instance of a side; the run's own instance where the script has no address of the target. */
export function instanceOn(instances: FallbackInstances, side: FallbackSide) {
  return side === 'target' && instances.target !== undefined ? instances.target : instances.instance;
}

export function prefixOf(side: FallbackSide): 'INSTANCE' | 'TARGET' {
  return side === 'target' ? 'TARGET' : 'INSTANCE';
}

/** The name itself, for functions that set a variable. */
export function nameOf(name: string): string {
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

/** Section 4.4: a restore names both ids in its body. */
function bodyInV0(call: FallbackCall): FallbackCall['body'] {
  if (call.method !== 'POST' || !call.path.endsWith('/restore') || call.id === undefined) return undefined;
  return {
    instance_id: { number: { variable: 'INTERNAL_ID', what: '' } },
    backup_id: { number: call.id },
  };
}

function plainBase(instances: FallbackInstances, side: FallbackSide, base: 'v1' | 'v0'): string {
  return basesOf(instanceOn(instances, side))[base];
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

/** Where an instance answers, and how a person gets at it. */
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

/** The instance of a run, and the one that a recovery goes into. */
export interface FallbackInstances {
  readonly instance: FallbackInstance;
  readonly target?: FallbackInstance;
}

/** Both addresses of an instance, without a slash at the end (service-api.md section 4). */
export function basesOf({ url }: FallbackInstance): { readonly v1: string; readonly v0: string } {
  const clean = show(url, 2_000).replace(/\/+$/u, '');
  const found = /^(?<before>.*)\/(?:service-instances|v1\/instances)\/(?<id>[^/]*)$/u.exec(clean)?.groups;
  if (found === undefined) return { v1: clean, v0: clean };
  return {
    v1: `${found['before']}/v1/instances/${found['id']}`,
    v0: `${found['before']}/service-instances/${found['id']}`,
  };
}

/** In which order the ways to a download are tried (service-api.md section 4.3), as the client tries them. */
export const DOWNLOAD_WAYS: Readonly<
  Record<FallbackInstance['revision'], readonly ('v1' | 'v0' | 'v0-post')[]>
> = {
  61: ['v1', 'v0', 'v0-post'],
  62: ['v0', 'v1', 'v0-post'],
  v0: ['v0', 'v0-post', 'v1'],
};
