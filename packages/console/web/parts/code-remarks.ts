import { RangeSetBuilder, StateEffect, StateField, type Extension, type Text } from '@codemirror/state';
import { Decoration, EditorView, gutter, GutterMarker, hoverTooltip, type DecorationSet } from '@codemirror/view';
import type { Remark } from './code-editor-view.tsx';

interface Marked {
  readonly remarks: readonly Remark[];
  readonly underlines: DecorationSet;
}

/** Replaces the remarks that are shown. */
export const setRemarks = StateEffect.define<readonly Remark[]>();

const NONE: Marked = { remarks: [], underlines: Decoration.none };
const SIGNS = { error: '✕', warning: '!', info: 'i' } as const;

class Sign extends GutterMarker {
  readonly #severity: Remark['severity'];

  constructor(severity: Remark['severity']) {
    super();
    this.#severity = severity;
  }

  override toDOM(): Node {
    const sign = document.createElement('span');
    sign.className = `cm-sign cm-sign-${this.#severity}`;
    sign.textContent = SIGNS[this.#severity];
    return sign;
  }
}

const signs = { error: new Sign('error'), warning: new Sign('warning'), info: new Sign('info') } as const;

/** From where to the end of the line a remark is about; lines that are gone count as the last one. */
export function placeOf(
  doc: Text,
  { line, column = 1 }: { readonly line: number; readonly column?: number },
): { from: number; to: number } {
  const { from, to } = doc.line(Math.min(Math.max(1, line), doc.lines));
  return { from: Math.min(to, from + Math.max(0, column - 1)), to };
}

function marked(doc: Text, remarks: readonly Remark[]): Marked {
  const underlines = new RangeSetBuilder<Decoration>();
  const places = remarks.map((remark) => ({ ...placeOf(doc, remark), remark })).sort((a, b) => a.from - b.from);
  for (const { from, to, remark } of places)
    if (to > from) underlines.add(from, to, Decoration.mark({ class: `cm-remark-${remark.severity}` }));
  return { remarks, underlines: underlines.finish() };
}

const field = StateField.define<Marked>({
  create: () => NONE,
  update: (value, transaction) => {
    for (const effect of transaction.effects) if (effect.is(setRemarks)) return marked(transaction.state.doc, effect.value);
    return transaction.docChanged ? { ...value, underlines: value.underlines.map(transaction.changes) } : value;
  },
  provide: (self) => EditorView.decorations.from(self, ({ underlines }) => underlines),
});

/** Signs beside the lines that remarks are about, lines below the text, and the sentence under the pointer. No image is drawn: the content security policy forbids them. */
export function codeRemarks(): Extension {
  return [
    field,
    gutter({
      class: 'cm-signs',
      initialSpacer: () => signs.info,
      lineMarkerChange: (update) => update.transactions.some(({ effects }) => effects.some((effect) => effect.is(setRemarks))),
      lineMarker: (view, block) => {
        const { number } = view.state.doc.lineAt(block.from);
        const here = view.state.field(field).remarks.filter(({ line }) => line === number);
        const worst = (['error', 'warning', 'info'] as const).find((severity) => here.some((remark) => remark.severity === severity));
        return worst ? signs[worst] : null;
      },
    }),
    hoverTooltip((view, position) => {
      const { number } = view.state.doc.lineAt(position);
      const here = view.state.field(field).remarks.filter(({ line }) => line === number);
      if (here.length === 0) return null;
      return {
        pos: position,
        create: () => {
          const dom = document.createElement('div');
          dom.className = 'cm-remark-text';
          dom.textContent = here.map(({ message }) => message).join('\n');
          return { dom };
        },
      };
    }),
  ];
}
