import { autocompletion, completionKeymap, type CompletionSource } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, syntaxHighlighting } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { colours, look } from './code-look.ts';
import { codeRemarks, placeOf, setRemarks } from './code-remarks.ts';
import { hcl } from './hcl-language.ts';

/** Something about a place in the text; both counted from 1. */
export interface Remark {
  readonly severity: 'error' | 'warning' | 'info';
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** A place to bring into view; a new object moves the cursor there again. */
export interface PlaceInText {
  readonly line: number;
  readonly column?: number;
}

export interface CodeEditorProps {
  /** Names the field. */
  readonly label: string;
  readonly value: string;
  readonly onChange?: (value: string) => void;
  readonly remarks?: readonly Remark[];
  readonly complete?: CompletionSource;
  readonly at?: PlaceInText | undefined;
  /** One field among others: it is no taller than its text. */
  readonly low?: boolean;
}

const lowLook = EditorView.theme({ '.cm-content': { minHeight: '96px' }, '.cm-scroller': { maxHeight: '320px' } });

/** The editor itself: in a shadow root, where its sheets are constructed and no style element is written. */
export default function CodeEditorView({ label, value, onChange, remarks, complete, at, low }: CodeEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const changed = useRef(onChange);
  const source = useRef(complete);
  changed.current = onChange;
  source.current = complete;
  // What was told and has not come back as the value: typing is faster than drawing, and an older text must not replace a newer one.
  const told = useRef<string[]>([]);

  useEffect(() => {
    const root = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: 'open' });
    const parent = document.createElement('div');
    root.replaceChildren(parent);
    const editor = new EditorView({
      root,
      parent,
      state: EditorState.create({
        doc: value,
        extensions: [
          lineNumbers(),
          codeRemarks(),
          history(),
          drawSelection(),
          bracketMatching(),
          highlightActiveLine(),
          syntaxHighlighting(colours),
          ...(low ? [lowLook] : []),
          look,
          hcl(),
          autocompletion({ override: [(context) => source.current?.(context) ?? null], icons: false }),
          // Tab leaves the editor: whoever has only a keyboard must be able to go on.
          keymap.of([...completionKeymap, ...historyKeymap, ...defaultKeymap]),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
          EditorState.readOnly.of(onChange === undefined),
          EditorView.updateListener.of((update) => {
            if (!update.docChanged) return;
            const text = update.state.doc.toString();
            told.current.push(text);
            changed.current?.(text);
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
    // The editor keeps its own state; the effects below bring changes from outside in.
  }, [label]);

  useEffect(() => {
    const own = told.current.indexOf(value);
    if (own >= 0) return void told.current.splice(0, own + 1);
    const { state } = view.current!;
    if (state.doc.toString() !== value) view.current!.dispatch({ changes: { from: 0, to: state.doc.length, insert: value } });
  }, [value]);

  useEffect(() => {
    view.current!.dispatch({ effects: setRemarks.of(remarks ?? []) });
  }, [remarks]);

  useEffect(() => {
    const editor = view.current!;
    if (!at) return;
    const { from: anchor } = placeOf(editor.state.doc, at);
    editor.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: 'center' }) });
    editor.focus();
  }, [at]);

  return <div ref={host} />;
}
