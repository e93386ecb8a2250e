import type { Anchor } from '../store/log/anchor.ts';
import { show } from '../text.ts';
import type { Audit } from './audit-report.ts';

export interface AnchorCheck {
  /** Is fed the entries of all streams. */
  take(entry: { readonly stream: string; readonly seq: number; readonly hash: string }): void;
  /** Called when all were seen. */
  finish(): void;
}

/** Compares streams with what anchors from elsewhere say of them: the only thing that betrays a journal that was rolled back as a whole. */
export function anchorCheck(anchors: readonly Anchor[], audit: Audit): AnchorCheck {
  const checks = anchors.map((anchor) => oneCheck(anchor, audit));
  return {
    take: (entry) => checks.forEach((check) => void check.take(entry)),
    finish: () => checks.forEach((check) => void check.finish()),
  };
}

function oneCheck(anchor: Anchor, audit: Audit): AnchorCheck {
  let last = 0;
  let met = false;
  return {
    take({ stream, seq, hash }) {
      if (stream !== anchor.stream) return;
      last = seq;
      if (seq !== anchor.seq) return;
      met = true;
      if (hash.startsWith(anchor.hash)) return;
      const message = `entry ${seq} is not the one of the anchor: the record was rewritten`;
      audit.problem('anchor.rewritten', message, { stream, seq });
    },
    finish() {
      if (met) return;
      const name = show(anchor.stream, 120);
      const message =
        last === 0
          ? `the anchor is of ${name}, which is not here`
          : `${name} ends at entry ${last}, but the anchor saw entry ${anchor.seq}: it was cut or rolled back`;
      audit.problem('anchor.missing', message, { stream: name, seq: last });
    },
  };
}
