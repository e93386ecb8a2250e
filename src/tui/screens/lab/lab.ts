import { askingWords, type LabChange } from '../../../view/app/lab-facts.ts';
import { type AppEffect, type Around, type BoundKey, footerKey, type Input } from '../../live-screen.ts';
import { badgeOfHome, type OpenScreen, screen } from '../../module-screen.ts';
import { EDITING_KEYS, EMPTY_FIELD, fieldAfter, isFieldIntent, PALETTE_KEY } from '../../parts/field.ts';
import { BACK_KEY, FRESH_LIST, isListIntent, listKeys, moved, placed, typedInto } from '../../parts/list.ts';
import {
  FRESH,
  knownOf,
  type LabIntent,
  type LabKnown,
  type LabState,
  layOut,
  nameOf,
} from './lab-layout.ts';

/** Shows the lab's open faults, with keys to cause more, also while a run waits. Reaches no service. */
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

/** Returns to the instances, where the effect is visible. */
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

function labKeys({ list, over }: LabState, known: LabKnown): readonly BoundKey<LabIntent>[] {
  if (over?.kind === 'delete') return [CHOOSE, ...MOVES, CLOSE];
  if (over?.kind === 'advance')
    return [{ ...CHOOSE, label: 'move the clock' }, ...EDITING_KEYS, PALETTE_KEY, CLOSE];
  if (over !== undefined) {
    const none = known.scenario === undefined ? 'there is no scenario here' : undefined;
    if (over.list.isFiltering) return listKeys(over.list);
    const play = { ...CHOOSE, label: 'play', description: 'play the scenario in place of the one before' };
    return [
      { ...play, disabled: none ?? known.why },
      ...listKeys(over.list),
      ...(over.list.filter.text === '' ? [CLOSE] : []),
    ];
  }
  if (list.isFiltering) return listKeys(list);
  return [...overInstances(known), ...listKeys(list), ...(list.filter.text === '' ? [BACK_KEY] : [])];
}

function overInstances({ why, here, isConfigured }: LabKnown): readonly BoundKey<LabIntent>[] {
  const none = why ?? (here === undefined ? 'there is no instance here' : undefined);
  const { name = '', state = '' } = here ?? {};
  const gone = state === 'deleted' ? `${name} is deleted, for good` : undefined;
  return [
    {
      ...footerKey(
        'p',
        'scenarios',
        'play',
        'choose a scenario to play: what goes wrong, and what you learn from it',
      ),
      disabled: why,
    },
    {
      ...footerKey('x', 'stop-faults', 'stop faults', 'end all faults; tasks that they held go on'),
      disabled: why,
    },
    {
      ...footerKey(
        'l',
        'lose',
        'lose',
        'take the instance away: its database is killed, a router answers 502 in its place',
      ),
      disabled: none ?? gone ?? (state === 'lost' ? `${name} is lost: b brings it back` : undefined),
    },
    {
      ...footerKey(
        'b',
        'bring-back',
        'bring back',
        'bring a lost instance back, with everything that was committed',
      ),
      disabled: none ?? gone ?? (state === 'lost' ? undefined : `${name} is not lost`),
    },
    {
      ...footerKey('a', 'clock', 'clock', 'move the clock of the lab ahead, such as by 30d or 1h30m'),
      disabled: why,
    },
    {
      ...footerKey(
        't',
        'expire-tokens',
        'expire tokens',
        'expire the tokens of the lab; the token file gets a new one',
      ),
      disabled: why,
    },
    {
      ...footerKey(
        'D',
        'ask-delete',
        'delete',
        'delete the instance for good, as somebody would by mistake; asks first',
      ),
      disabled: none ?? gone,
    },
    {
      ...footerKey('y', 'copy', 'copy', 'copy the name of the instance'),
      inFooter: false,
      disabled: none,
    },
    {
      intent: 'look',
      keys: ['enter'],
      shown: 'Enter',
      label: 'look',
      description: 'look at the instance as the service shows it',
      inFooter: false,
      disabled: none ?? (isConfigured ? undefined : `the config does not name ${name}`),
    },
  ];
}

const CHOOSE: BoundKey<LabIntent> = footerKey('enter', 'choose', 'choose', 'do what is chosen');

const MOVES: readonly BoundKey<LabIntent>[] = [
  {
    intent: 'other',
    keys: ['up', 'down', 'k', 'j', 'tab'],
    shown: 'up/down',
    label: 'move',
    description: 'move to the other answer',
    inFooter: true,
  },
];

const CLOSE: BoundKey<LabIntent> = footerKey(['escape', 'ctrl+c'], 'close', 'back', 'go back to the lab');
