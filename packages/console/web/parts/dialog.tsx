import { CloseButton, Modal, Title } from '@mantine/core';
import { useEffect, type ReactNode } from 'react';
import classes from './dialog.module.css';
import { useStowedHost } from './stowed.tsx';

interface DialogProps {
  readonly title: string;
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly size?: 'md' | 'lg' | 'xl';
  /** It cannot be closed: something must be decided. */
  readonly lasting?: boolean;
}

/** A dialogue: takes the focus and returns it, closes on Esc. Its head is no second banner, and it writes no style element. */
export function Dialog({ title, opened, onClose, children, size = 'md', lasting = false }: DialogProps) {
  const host = useStowedHost();
  useEffect(() => {
    document.documentElement.classList.toggle('modal-open', opened);
    return () => document.documentElement.classList.remove('modal-open');
  }, [opened]);
  return (
    <Modal.Root
      opened={opened}
      onClose={onClose}
      lockScroll={false}
      {...(host ? { portalProps: { target: host } } : {})}
      closeOnEscape={!lasting}
      closeOnClickOutside={!lasting}
      size={size}
      transitionProps={{ duration: 0 }}
    >
      <Modal.Overlay />
      <Modal.Content aria-label={title}>
        <Modal.Body>
          <div className={classes.head}>
            <Title order={2} size="h4">
              {title}
            </Title>
            {!lasting && <CloseButton aria-label="Close" onClick={onClose} />}
          </div>
          {children}
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
