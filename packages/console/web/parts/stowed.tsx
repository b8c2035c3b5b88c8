import { createContext, useCallback, useContext, useState, type ReactNode } from 'react';
import { createPortal } from 'react-dom';

const Host = createContext<HTMLElement | undefined>(undefined);

interface StowedProps {
  /** The children are out of the document. */
  readonly away: boolean;
  /** They are seen and cannot be used. */
  readonly inert?: boolean;
  readonly children: ReactNode;
}

/**
 * A part of the page that can leave the document without being unmounted: what was typed or shown once in it is kept in memory, and nothing that looks at the
 * document finds it.
 */
export function Stowed({ away, inert = false, children }: StowedProps) {
  const [host] = useState(() => document.createElement('div'));
  const attach = useCallback(
    (place: HTMLDivElement | null) => {
      if (place === null || away) host.remove();
      else place.append(host);
    },
    [away, host],
  );
  return (
    <>
      <div ref={attach} inert={inert} />
      {createPortal(<Host value={host}>{children}</Host>, host)}
    </>
  );
}

/** Where what floats above this part belongs, so that it leaves with it. */
export function useStowedHost(): HTMLElement | undefined {
  return useContext(Host);
}
