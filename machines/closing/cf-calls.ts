import type { RunContext } from '../context.ts';
import type { BoundApp, PlatformInstance, ServiceKey } from '../parts/recovery-data.ts';
import { bindsBeside, platformInstance } from './evaluate.ts';

export interface CfCall {
  readonly word: string;
  /** cf takes a name that begins like an option for one. */
  readonly names: readonly string[];
  readonly options: readonly string[];
  /** The call to use where an old binding that could not be removed keeps the name of the new one. */
  readonly withoutName?: CfCall;
}

export function wordsOf({ word, names, options }: CfCall): readonly string[] {
  return ['cf', word, ...names, ...options];
}

/** Empty if the space is not known. */
export function targetCalls(
  place: { readonly org?: string | undefined; readonly space?: string | undefined } | undefined,
): readonly CfCall[] {
  if (place?.space === undefined) return [];
  const org = place.org === undefined ? [] : ['-o', place.org];
  return [{ word: 'target', names: [], options: [...org, '-s', place.space] }];
}

/** Commands that give an application new credentials, in the order that the platform allows. */
export function rebindCalls(context: RunContext, { name, binding, running }: BoundApp): readonly CfCall[] {
  const [from, to] = [boundFrom(context), platformInstance(context)];
  const beside = bindsBeside(context);
  const named = binding?.name === undefined ? [] : bindingName(binding.name);
  const guid = beside && binding !== undefined ? ['--guid', binding.guid] : [];
  const ending = [...given(binding?.parametersFile), ...(beside ? ['--strategy', 'multiple'] : []), '--wait'];
  const unbind = { word: 'unbind-service', names: [name, from.name], options: [...guid, '--wait'] };
  const bind = { word: 'bind-service', names: [name, to.name], options: [...named, ...ending] };
  const restage =
    running === false ? [] : [{ word: 'restage', names: [name], options: ['--strategy', 'rolling'] }];
  if (beside) return [bind, ...restage, unbind];
  const mayBeTaken = named.length > 0 && from.guid !== to.guid;
  return [unbind, mayBeTaken ? { ...bind, withoutName: { ...bind, options: ending } } : bind, ...restage];
}

export function keyCalls(context: RunContext, { name, parametersFile }: ServiceKey): readonly CfCall[] {
  const [from, to] = [boundFrom(context), platformInstance(context)];
  return [
    // Without waiting, the old key is still there and the new one is refused.
    { word: 'delete-service-key', names: [from.name, name], options: ['-f', '--wait'] },
    { word: 'create-service-key', names: [to.name, name], options: [...given(parametersFile), '--wait'] },
  ];
}

export function boundFrom({ followUps: { bound }, run }: RunContext): PlatformInstance {
  return bound?.from ?? { guid: '', name: run.instance };
}

function given(parametersFile: string | undefined): readonly string[] {
  return parametersFile === undefined ? [] : ['-c', parametersFile];
}

/** One word, because cf would take the name for an option. */
function bindingName(name: string): readonly string[] {
  return name.startsWith('-') ? [`--binding-name=${name}`] : ['--binding-name', name];
}
