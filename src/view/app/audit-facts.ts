/** What `lifeboat audit verify` found. Every text is printable. */
export interface AuditFacts {
  readonly verdict: 'intact' | 'consistent' | 'not-intact';
  /** The verdict as one sentence. */
  readonly words: string;
  /** With which exit code the command ends. */
  readonly exitCode: number;
  readonly entries: number;
  readonly findings: readonly {
    readonly severity: 'problem' | 'limit' | 'note';
    readonly text: string;
  }[];
}
