import type { RunView } from '../../view/run-view.ts';
import type { Mode } from '../key-binding.ts';
import { footerBindings } from '../keymap.ts';
import { cutLine, lineWidth } from '../line.ts';
import { type Line, type Look, type Span, span } from '../span.ts';
import { ruleOf } from './header.ts';

/** The keys that work now (`unit` is what the arrows of a picker move by), on the lower edge of the screen's frame. Those that do not fit are left to the help. */
export function footerLine(
  view: Pick<RunView, 'mode' | 'paused'>,
  mode: Mode,
  width: number,
  look: Look,
  unit = '',
): Line {
  const rule = ruleOf(view.mode, look);
  const line: Span[] = [{ ...rule, text: `${rule.text.repeat(2)} ` }];
  let used = lineWidth(line);
  for (const { shown, label } of footerBindings(mode, view.paused)) {
    const entry = [span(shown, 'text.strong'), span(` ${label.replace('{unit}', unit)}`), span('  ')];
    const wide = lineWidth(entry);
    if (used + wide > width) continue;
    line.push(...entry);
    used += wide;
  }
  line.push({ ...rule, text: rule.text.repeat(Math.max(0, width - used)) });
  return cutLine(line, width, look);
}
