/**
 * What an operator may answer, over all runbooks. `text` is a reason, a piece of evidence or a word, as the
 * question says.
 */
export type RunEvent =
  | { type: 'operator.chooseBackup'; id: number }
  | { type: 'operator.chooseTime'; time: string }
  | { type: 'operator.backUp' }
  | { type: 'operator.prove' }
  | { type: 'operator.archive' }
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
  | { type: 'operator.doAll' }
  | { type: 'operator.doNow'; id: string }
  | { type: 'operator.reportDone'; id: string; text: string }
  | { type: 'operator.skip'; id?: string; text: string }
  | { type: 'operator.proveApp'; id: string }
  | { type: 'operator.retry' }
  | { type: 'operator.markDone'; text: string }
  | { type: 'operator.stop' };
