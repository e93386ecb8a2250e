/** The tasks that a recovery asks the service for, by the field of the context that keeps them. */
export type TaskName = 'safety' | 'proof' | 'restore' | 'fresh' | 'act';

/** What an operator may answer, over all recoveries. `text` is a reason, a piece of evidence or a word, as the question says. */
export type RecoveryEvent =
  | { type: 'operator.chooseBackup'; id: number }
  | { type: 'operator.chooseTime'; time: string }
  | { type: 'operator.backUp' }
  | { type: 'operator.prove' }
  | { type: 'operator.goOn' }
  | { type: 'operator.goOnWithout'; text: string }
  | { type: 'operator.holdBack'; text: string }
  | { type: 'operator.rotate' }
  | { type: 'operator.generate' }
  | { type: 'operator.enterKey' }
  | { type: 'operator.provideKey'; fingerprint: string; length: number }
  | { type: 'operator.useKey'; fingerprint: string }
  | { type: 'operator.setAgain' }
  | { type: 'operator.takeGuid'; text: string }
  | { type: 'operator.useNewest' }
  | { type: 'operator.useBackup'; guid: string }
  | { type: 'operator.typeGuid' }
  | { type: 'operator.provideGuid'; text: string }
  | { type: 'operator.override'; typed: string }
  | { type: 'operator.back' }
  | { type: 'operator.confirm'; typed: string }
  | { type: 'operator.adopt'; id: number }
  | { type: 'operator.hasBegun'; text: string }
  | { type: 'operator.lookAgain' }
  | { type: 'operator.giveUp' }
  | { type: 'operator.sendAgain' }
  | { type: 'operator.payAll' }
  | { type: 'operator.pay'; id: string }
  | { type: 'operator.settle'; id: string; text: string }
  | { type: 'operator.skip'; id?: string; text: string }
  | { type: 'operator.proveApp'; id: string }
  | { type: 'operator.retry' }
  | { type: 'operator.markDone'; text: string }
  | { type: 'operator.stop' };
