import { HighlightStyle } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** Each at least 4.5:1 on the background of its scheme. */
export const colours = HighlightStyle.define([
  { tag: tags.keyword, color: 'light-dark(#8a1f6b, #f0a6d8)' },
  { tag: tags.propertyName, color: 'light-dark(#0b4a8f, #a9d1ff)' },
  { tag: tags.string, color: 'light-dark(#14592a, #a6e3b5)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'light-dark(#7d3c00, #ffc999)' },
  { tag: tags.comment, color: 'light-dark(#52585f, #a8adb5)', fontStyle: 'italic' },
]);

/** The console's own frame, fonts and greys. */
export const look = EditorView.theme({
  '&': {
    fontSize: '13px',
    border: '1px solid var(--line)',
    borderRadius: '6px',
    backgroundColor: 'var(--mantine-color-body)',
    color: 'var(--mantine-color-text)',
    overflow: 'hidden',
  },
  '&.cm-focused': { outline: '2px solid var(--mantine-color-anchor)', outlineOffset: '1px' },
  '.cm-scroller': { fontFamily: 'var(--mantine-font-family-monospace)', lineHeight: '1.55', maxHeight: '70vh' },
  '.cm-content': { caretColor: 'var(--mantine-color-text)', minHeight: '320px' },
  '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
  '.cm-gutters': { backgroundColor: 'var(--soft)', color: 'var(--mantine-color-dimmed)', borderRight: '1px solid var(--line)' },
  '.cm-activeLine': { backgroundColor: 'light-dark(#0b4a8f0d, #a9d1ff14)' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': { backgroundColor: 'light-dark(#cfe3fa, #27496d) !important' },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': { backgroundColor: 'light-dark(#d9ead9, #27442f)', color: 'inherit' },
  '.cm-tooltip': {
    backgroundColor: 'var(--mantine-color-body)',
    color: 'var(--mantine-color-text)',
    border: '1px solid var(--line)',
    borderRadius: '6px',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mantine-font-family-monospace)', maxHeight: '16em' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '3px 8px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'light-dark(#e3effb, #1d3147)',
    color: 'light-dark(#0b4a8f, #a9d1ff)',
  },
  '.cm-completionDetail': { color: 'var(--mantine-color-dimmed)', fontStyle: 'normal', fontFamily: 'var(--mantine-font-family)' },
  '.cm-signs': { width: '1.4em', textAlign: 'center', fontWeight: '700' },
  '.cm-sign-error': { color: 'var(--bad)' },
  '.cm-sign-warning': { color: 'var(--warn)' },
  '.cm-sign-info': { color: 'var(--mantine-color-anchor)' },
  '.cm-remark-error': { textDecoration: 'underline wavy var(--bad)', textUnderlineOffset: '3px' },
  '.cm-remark-warning': { textDecoration: 'underline wavy var(--warn)', textUnderlineOffset: '3px' },
  '.cm-remark-info': { textDecoration: 'underline dotted var(--mantine-color-anchor)', textUnderlineOffset: '3px' },
  '.cm-remark-text': { fontFamily: 'var(--mantine-font-family)', padding: '4px 8px', whiteSpace: 'pre-wrap', maxWidth: '480px' },
});
