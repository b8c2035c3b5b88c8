interface Node<T> {
  /** What the edge to this node reads. */
  label: string;
  value: T | undefined;
  /** By the first character code of their label. */
  children: Map<number, Node<T>> | undefined;
}

/** Values by prefix; finding the longest one that fits takes time by the length of the text, not by the number of prefixes. */
export class PrefixTree<T> {
  readonly #root: Node<T> = { label: '', value: undefined, children: undefined };

  set(prefix: string, value: T): void {
    let node = this.#root;
    let offset = 0;
    while (offset < prefix.length) {
      const code = prefix.charCodeAt(offset);
      const child = node.children?.get(code);
      if (!child) {
        const leaf: Node<T> = { label: prefix.slice(offset), value, children: undefined };
        (node.children ??= new Map()).set(code, leaf);
        return;
      }
      const shared = commonLength(child.label, prefix, offset);
      if (shared < child.label.length) {
        const upper: Node<T> = {
          label: child.label.slice(0, shared),
          value: undefined,
          children: new Map([[child.label.charCodeAt(shared), child]]),
        };
        child.label = child.label.slice(shared);
        node.children?.set(code, upper);
        node = upper;
      } else {
        node = child;
      }
      offset += shared;
    }
    node.value = value;
  }

  /** The value of the longest prefix of `text` from `start` on. */
  longest(text: string, start = 0): T | undefined {
    let node = this.#root;
    let found = node.value;
    let offset = start;
    while (node.children && offset < text.length) {
      const child = node.children.get(text.charCodeAt(offset));
      if (!child || !text.startsWith(child.label, offset)) return found;
      offset += child.label.length;
      node = child;
      if (node.value !== undefined) found = node.value;
    }
    return found;
  }
}

function commonLength(label: string, text: string, offset: number): number {
  const limit = Math.min(label.length, text.length - offset);
  let length = 1;
  while (length < limit && label.charCodeAt(length) === text.charCodeAt(offset + length)) length++;
  return length;
}
