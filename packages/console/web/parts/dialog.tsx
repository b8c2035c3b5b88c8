import { CloseButton, Modal, Title } from '@mantine/core';
import { useEffect, type ReactNode } from 'react';
import classes from './dialog.module.css';

interface DialogProps {
  readonly title: string;
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly size?: 'md' | 'lg' | 'xl';
}

/** A dialogue: takes the focus and returns it, closes on Esc. Its head is no second banner, and it writes no style element. */
export function Dialog({ title, opened, onClose, children, size = 'md' }: DialogProps) {
  useEffect(() => {
    document.documentElement.classList.toggle('modal-open', opened);
    return () => document.documentElement.classList.remove('modal-open');
  }, [opened]);
  return (
    <Modal.Root opened={opened} onClose={onClose} lockScroll={false} size={size} transitionProps={{ duration: 0 }}>
      <Modal.Overlay />
      <Modal.Content aria-label={title}>
        <Modal.Body>
          <div className={classes.head}>
            <Title order={2} size="h4">
              {title}
            </Title>
            <CloseButton aria-label="Close" onClick={onClose} />
          </div>
          {children}
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
