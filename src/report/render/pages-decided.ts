import { spaced } from '../../../machines/parts/verb-words.ts';
import { formatSpan } from '../../base/format.ts';
import type { Report } from '../model/model.ts';
import type { Approval, FollowUpRow, MayApprove } from '../model/model-rows.ts';
import {
  BLANK,
  type Block,
  blanks,
  detail,
  deviationText,
  factsBlock,
  type Inline,
  listOr,
  optional,
  paragraph,
  type Section,
  type Text,
  tableOf,
  tableOr,
  time,
} from './document.ts';

const LATER = 'The run is still open: what its steps left out is listed when it closes.';

export function decidedSections(report: Report): Section[] {
  const { outcome, followUps, decisions, approvals, deviations, issues, changes, cleanup } = report;
  return [
    ...optional('Follow-ups', followUpBlocks(followUps)),
    ...detail('Proofs of the follow-ups', proofBlocks(followUps)),
    {
      title: 'Decisions',
      blocks: [
        tableOr(
          'None.',
          'What people decided',
          ['Time', 'Who', 'Decision', 'Reason'],
          decisions.map(({ at, by, what, reason }) => [time(at), by, what, reason]),
        ),
      ],
    },
    { title: 'Who may approve', isDetail: true, blocks: mayApproveBlocks(report.mayApprove) },
    { title: 'Approvals', isDetail: true, blocks: [approvalTable(approvals)] },
    {
      title: 'Deviations',
      blocks:
        outcome.status === 'open'
          ? [listOr('None so far.', deviations.map(deviationText)), paragraph(LATER)]
          : [listOr('None.', deviations.map(deviationText))],
    },
    {
      title: 'Issues and actions',
      isDetail: true,
      blocks: [
        tableOr(
          'The journal names none.',
          'Issues; people fill in the cause, action, owner, due date and status',
          ['Time', 'Issue', 'Root cause', 'Corrective action', 'Owner', 'Due', 'Status'],
          issues.map(({ at, what }) => [time(at), what, BLANK, BLANK, BLANK, BLANK, BLANK]),
        ),
        ...blanks(report, 'issues'),
      ],
    },
    { title: 'Clean-up', isDetail: true, blocks: [paragraph(cleanupText(report, cleanup))] },
    {
      title: 'Changes',
      isDetail: true,
      blocks: [
        tableOr(
          'None.',
          'Every call that changed something, or may have',
          ['Begun', 'Step', 'Intent or subject', 'Answer', 'Found at the service'],
          changes.map(({ at, step, intent, subject, answer, found }) => [
            time(at),
            spaced(step),
            intent === undefined ? subject : { code: intent },
            inWords(ANSWERS, answer),
            inWords(FOUND, found),
          ]),
        ),
      ],
    },
  ];
}

/** The end of a call that may happen only once; `FOUND` has what was found out later. */
const ANSWERS: Readonly<Record<string, string>> = {
  landed: 'accepted',
  absent: 'not done',
  unknown: 'lost',
  'never written': 'none on record',
};
const FOUND: Readonly<Record<string, string>> = {
  landed: 'it happened',
  absent: 'it did not happen',
  ambiguous: 'it may have happened',
};

const WAYS: Readonly<Record<string, Inline>> = {
  platform: 'by the platform',
  cf: 'by cf',
  command: 'by its command',
  hand: 'by hand',
  run: 'by the run',
  skipped: { strong: 'skipped' },
};

/** The words for a code; an unknown code stays unchanged. */
function inWords<Word>(words: Readonly<Record<string, Word>>, code: string): Word | string {
  return Object.hasOwn(words, code) ? (words[code] ?? code) : code;
}

function followUpBlocks(followUps: readonly FollowUpRow[]): Block[] {
  if (followUps.length === 0) return [];
  const open = followUps.filter(({ closed }) => closed === undefined).length;
  const skipped = followUps.filter(({ closed }) => closed?.how === 'skipped').length;
  return [
    paragraph(`${followUps.length} in all, ${open} open, ${skipped} skipped.`),
    ...tableOf(
      'Follow-ups after the change',
      ['Id', 'What', 'Owner', 'Open for', 'Closed'],
      followUps.map((followUp) => [
        { code: followUp.id },
        followUp.what,
        followUp.owner,
        ageOf(followUp),
        closure(followUp),
      ]),
    ),
  ];
}

function proofBlocks(followUps: readonly FollowUpRow[]): Block[] {
  if (followUps.length === 0) return [];
  return [
    tableOr(
      'No follow-up has a proof from the platform or the service.',
      'Proofs of the follow-ups',
      ['Follow-up', 'Proof', 'Value'],
      followUps.flatMap(({ id, proofs }) =>
        proofs.map(({ label, value }) => [{ code: id }, spaced(label), { code: value }]),
      ),
    ),
  ];
}

/** With the limit if it was exceeded. */
function ageOf({ openSeconds, dueSeconds }: FollowUpRow): string {
  if (openSeconds === undefined) return 'not known';
  const age = formatSpan(openSeconds);
  const late = dueSeconds !== undefined && openSeconds > dueSeconds;
  return late ? `${age}, due after ${formatSpan(dueSeconds)}` : age;
}

function closure({ closed }: FollowUpRow): Text {
  if (closed === undefined) return { bad: 'still open' };
  return [
    inWords(WAYS, closed.how),
    `${closed.at === undefined ? '' : ` ${time(closed.at)}`}: ${closed.text}`,
  ];
}

function mayApproveBlocks({ begun, asOf, people, drivers, changes }: MayApprove): Block[] {
  return [
    ...(begun.length === 0
      ? [paragraph('The record does not say which approvals were required when the run began.')]
      : factsBlock(`Approvals required when the run began, as of ${time(asOf)}`, begun)),
    ...tableOf(
      'People in the file of allowed signers at that time; nobody added later counts',
      ['Who', 'Key'],
      people.map(({ names, key }) => [names, { code: key }]),
    ),
    tableOr(
      'The record does not say which login drove the run.',
      'Who drove the run, and so cannot approve it',
      ['From', 'Name', 'Login', 'Uid', 'Host', 'Config, SHA-256'],
      drivers.map(({ at, name, login, uid, host, config }) => [
        time(at),
        name,
        login,
        uid,
        host,
        { code: config },
      ]),
    ),
    tableOr(
      'Nothing has changed since.',
      'What has changed since',
      ['Time', 'Who', 'What', 'Was', 'Is'],
      changes.map(({ at, by, what, was, is }) => [time(at), by, what, was, is]),
    ),
  ];
}

function approvalTable(approvals: readonly Approval[]): Block {
  return tableOr(
    'No step of this run needed a second person.',
    'Approvals asked of a second person',
    ['Asked', 'Order', 'Requester', 'State', 'Who', 'When', 'Method', 'Challenge and plan'],
    approvals.map((one) => [
      time(one.askedAt),
      one.order,
      one.requester,
      one.state === 'given' ? { good: one.state } : { bad: one.state },
      [one.approver ?? '', ...(one.reason === undefined ? [] : [`: ${one.reason}`])],
      time(one.at),
      one.key === undefined
        ? (one.method ?? '')
        : [
            `${one.method} signature, key `,
            { code: one.key },
            ', allowed signers ',
            { code: one.allowedSigners ?? '' },
          ],
      [{ code: one.challenge }, ...(one.plan === '' ? [] : [', plan ', { code: one.plan } as const])],
    ]),
  );
}

function cleanupText({ run, outcome, rotation, followUps }: Report, ids: readonly string[]): Text {
  const isDone = (id: string) => {
    const how = followUps.find((followUp) => followUp.id === id)?.closed?.how;
    return how !== undefined && how !== 'skipped';
  };
  const [done, left] = [ids.filter(isDone), ids.filter((id) => !isDone(id))];
  if (ids.length > 0) {
    return [
      ...(done.length === 0 ? [] : ['Done, see Follow-ups: ', ...codes(done), '.']),
      ...(left.length === 0
        ? []
        : [done.length === 0 ? '' : ' ', { bad: 'Not removed' }, ': ', ...codes(left), '.']),
    ];
  }
  if (outcome.status === 'open')
    return 'The run is not over: what it has to remove is listed when it closes.';
  if (rotation !== undefined) {
    return rotation.disposition.length === 0
      ? 'This run opened no follow-up to retire an old key.'
      : 'The old key is kept. A follow-up in the ledger of the instance retires it; see Key rotation.';
  }
  return run.kind === 'rehearsal'
    ? 'This run left nothing to remove. The lab of a rehearsal is not part of its journal.'
    : 'Not applicable: this run left nothing to remove.';
}

function codes(ids: readonly string[]): Inline[] {
  return ids.flatMap((code, at) => [...(at === 0 ? [] : [', ']), { code }]);
}
