import { askingWords, type LabChange } from '../../../view/app/lab-facts.ts';
import type { AppEffect, Around, Input } from '../../live-screen.ts';
import { badgeOfHome, type OpenScreen, screen } from '../../module-screen.ts';
import { EMPTY_FIELD, fieldAfter, isFieldIntent } from '../../parts/field.ts';
import { FRESH_LIST, isListIntent, moved, placed, typedInto } from '../../parts/list.ts';
import { labKeys } from './lab-keys.ts';
import { layOut } from './lab-layout.ts';
import { FRESH, knownOf, type LabIntent, type LabState, nameOf } from './lab-state.ts';

/**
 * The lab that the config names: what goes wrong in it, and keys to let more go wrong, also while a run waits
 * beneath. Nothing here reaches a service.
 */
export function labScreen(): OpenScreen {
  return screen<LabState, LabIntent>({
    init: FRESH,
    subject: () => '',
    title: ({ over }) => (over === undefined ? 'lab' : `lab: ${TITLES[over.kind]}`),
    badge: (_, around) => badgeOfHome(around),
    isTyping: ({ list, over }) =>
      over === undefined
        ? list.isFiltering
        : over.kind === 'advance' || (over.kind === 'scenarios' && over.list.isFiltering),
    keys: (state, around) => labKeys(state, knownOf(state, around)),
    needs: (_, { facts }) =>
      facts.get('home', null).last?.value.lab === undefined ? [] : [{ source: 'lab', of: null }],
    reduce,
    shown: (state, around) => {
      const { over, list } = state;
      const { instances, scenarios } = knownOf(state, around);
      if (over?.kind === 'scenarios')
        return { ...state, over: { ...over, list: placed(over.list, scenarios.map(nameOf)) } };
      return { ...state, list: placed(list, instances.map(nameOf)) };
    },
    layOut,
  });
}

const TITLES = { scenarios: 'scenarios', delete: 'delete an instance', advance: 'clock' } as const;

type Next = readonly [LabState, ...AppEffect[]];

function reduce(state: LabState, input: Input<LabIntent>, around: Around): Next {
  const { over } = state;
  if (over?.kind === 'scenarios') return choosing(state, over, input, around);
  if (over?.kind === 'delete') return deleting(state, over, input);
  if (over?.kind === 'advance') return advancing(state, over, input);
  const { list } = state;
  if (input.type === 'text') return [{ ...state, list: typedInto(list, input.text) }];
  const { instances, here } = knownOf(state, around);
  if (isListIntent(input.intent))
    return [{ ...state, list: moved(list, input.intent, instances.map(nameOf), input.page.height) }];
  const instance = here?.name ?? '';
  switch (input.intent) {
    case 'look':
      return [state, { type: 'open', screen: { name: 'instance', instance } }];
    case 'scenarios':
      return [{ ...state, over: { kind: 'scenarios', list: FRESH_LIST } }];
    case 'ask-delete':
      return [{ ...state, over: { kind: 'delete', instance, isSure: false } }];
    case 'clock':
      return [{ ...state, over: { kind: 'advance', field: EMPTY_FIELD } }];
    case 'lose':
    case 'bring-back':
      return changing(state, { do: input.intent, instance });
    case 'copy':
      return [state, { type: 'copy', text: instance, what: `the name of ${instance}` }];
    case 'stop-faults':
    case 'expire-tokens':
      return changing(state, { do: input.intent });
    default:
      return [state];
  }
}

/** Back to the instances, where it shows what came of it. */
function changing(state: LabState, change: LabChange): Next {
  const next = { ...state, over: undefined };
  return [next, { type: 'say', text: askingWords(change) }, { type: 'lab', change }];
}

type Over<Kind> = Extract<NonNullable<LabState['over']>, { readonly kind: Kind }>;

function choosing(state: LabState, over: Over<'scenarios'>, input: Input<LabIntent>, around: Around): Next {
  const to = (list: typeof over.list): Next => [{ ...state, over: { ...over, list } }];
  if (input.type === 'text') return to(typedInto(over.list, input.text));
  if (input.intent === 'close') return [{ ...state, over: undefined }];
  const { scenarios, scenario } = knownOf(state, around);
  if (isListIntent(input.intent))
    return to(moved(over.list, input.intent, scenarios.map(nameOf), input.page.height));
  if (input.intent !== 'choose' || scenario === undefined) return [state];
  return changing(state, { do: 'play', scenario: scenario.name });
}

function deleting(state: LabState, over: Over<'delete'>, input: Input<LabIntent>): Next {
  if (input.type === 'text') return [state];
  if (input.intent === 'other') return [{ ...state, over: { ...over, isSure: !over.isSure } }];
  if (input.intent === 'choose' && over.isSure)
    return changing(state, { do: 'delete', instance: over.instance });
  return [{ ...state, over: undefined }];
}

function advancing(state: LabState, over: Over<'advance'>, input: Input<LabIntent>): Next {
  const to = (field: typeof over.field): Next => [{ ...state, over: { ...over, field } }];
  if (input.type === 'text' || isFieldIntent(input.intent)) return to(fieldAfter(over.field, input));
  if (input.intent === 'close') return [{ ...state, over: undefined }];
  const by = over.field.text.trim();
  if (input.intent !== 'choose') return [state];
  if (by === '') return [state, { type: 'say', text: 'type how far, such as 30d or 1h30m' }];
  return changing(state, { do: 'advance', by });
}
