// delay QUEUE MILLISECONDS holds every packet of a netfilter queue for that long and then lets it pass.
// It stands in for netem where the kernel lacks it, and runs inside the network namespace whose queue it empties.
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

// From linux/netfilter/nfnetlink_queue.h.
const (
	netlinkNetfilter = 12
	queueSubsystem   = 3 << 8

	messagePacket  = queueSubsystem | 0
	messageVerdict = queueSubsystem | 1
	messageConfig  = queueSubsystem | 2

	configCommand   = 1
	configParams    = 2
	configMaxLength = 3
	commandBind     = 1
	copyMeta        = 1

	attrPacketHeader  = 1
	attrVerdictHeader = 2
	accept            = 1

	netlinkNoENOBUFS = 5
	solNetlink       = 270
	requestWithAck   = syscall.NLM_F_REQUEST | syscall.NLM_F_ACK
)

// Packets held at once; beyond it the kernel drops, as a full link would.
const capacity = 65536

type held struct {
	id  uint32
	due time.Time
}

func main() {
	if len(os.Args) != 3 {
		fail("usage: delay QUEUE MILLISECONDS")
	}
	queue, err := strconv.ParseUint(os.Args[1], 10, 16)
	if err != nil {
		fail("the queue must be a number below 65536: %v", err)
	}
	milliseconds, err := strconv.ParseFloat(os.Args[2], 64)
	if err != nil || milliseconds < 0 {
		fail("the delay must be a number of milliseconds, not %q", os.Args[2])
	}
	socket, err := openQueue(uint16(queue))
	if err != nil {
		fail("cannot take queue %d: %v", queue, err)
	}

	// All packets are held equally long, so the order of arrival is the order of release.
	line := make(chan held, capacity)
	go release(socket, uint16(queue), line)
	delay := time.Duration(milliseconds * float64(time.Millisecond))
	buffer := make([]byte, 1<<16)
	for {
		n, _, err := syscall.Recvfrom(socket, buffer, 0)
		switch {
		case err == syscall.EINTR || err == syscall.ENOBUFS:
			continue
		case err != nil:
			fail("receive: %v", err)
		}
		due := time.Now().Add(delay)
		for _, id := range packetIDs(buffer[:n]) {
			line <- held{id, due}
		}
	}
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}

func openQueue(queue uint16) (int, error) {
	socket, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, netlinkNetfilter)
	if err != nil {
		return -1, err
	}
	if err := syscall.Bind(socket, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}); err != nil {
		return -1, err
	}
	// A burst may overrun the socket; both settings only soften that, so their failure is no failure.
	_ = syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_RCVBUFFORCE, 8<<20)
	_ = syscall.SetsockoptInt(socket, solNetlink, netlinkNoENOBUFS, 1)

	bind := []byte{commandBind, 0, 0, syscall.AF_INET}
	params := append(binary.BigEndian.AppendUint32(nil, 0), copyMeta)
	maxLength := binary.BigEndian.AppendUint32(nil, capacity)
	for _, setting := range [][]byte{
		attribute(configCommand, bind), attribute(configParams, params), attribute(configMaxLength, maxLength),
	} {
		if err := configure(socket, queue, setting); err != nil {
			return -1, err
		}
	}
	return socket, nil
}

// The kernel answers each setting; no packet can be in between before a rule points at the queue.
func configure(socket int, queue uint16, setting []byte) error {
	if err := send(socket, message(messageConfig, requestWithAck, queue, setting)); err != nil {
		return err
	}
	buffer := make([]byte, 4096)
	n, _, err := syscall.Recvfrom(socket, buffer, 0)
	if err != nil {
		return err
	}
	if n < 20 || binary.NativeEndian.Uint16(buffer[4:]) != syscall.NLMSG_ERROR {
		return fmt.Errorf("an answer of %d bytes that is no acknowledgement", n)
	}
	if code := int32(binary.NativeEndian.Uint32(buffer[16:])); code != 0 {
		return syscall.Errno(-code)
	}
	return nil
}

func release(socket int, queue uint16, line <-chan held) {
	for packet := range line {
		time.Sleep(time.Until(packet.due))
		verdict := binary.BigEndian.AppendUint32(nil, accept)
		verdict = binary.BigEndian.AppendUint32(verdict, packet.id)
		body := attribute(attrVerdictHeader, verdict)
		if err := send(socket, message(messageVerdict, syscall.NLM_F_REQUEST, queue, body)); err != nil {
			fail("verdict: %v", err)
		}
	}
}

// packetIDs reads the ids out of one datagram, which may carry several netlink messages.
func packetIDs(datagram []byte) []uint32 {
	var ids []uint32
	for len(datagram) >= 20 {
		length := int(binary.NativeEndian.Uint32(datagram))
		if length < 20 || length > len(datagram) {
			break
		}
		if binary.NativeEndian.Uint16(datagram[4:]) == messagePacket {
			for rest := datagram[20:length]; len(rest) >= 8; {
				size := int(binary.NativeEndian.Uint16(rest))
				if size < 4 || size > len(rest) {
					break
				}
				if binary.NativeEndian.Uint16(rest[2:])&0x3fff == attrPacketHeader && size >= 8 {
					ids = append(ids, binary.BigEndian.Uint32(rest[4:]))
					break
				}
				rest = rest[min(aligned(size), len(rest)):]
			}
		}
		datagram = datagram[min(aligned(length), len(datagram)):]
	}
	return ids
}

func message(kind, flags int, queue uint16, body []byte) []byte {
	m := binary.NativeEndian.AppendUint32(nil, uint32(20+len(body)))
	m = binary.NativeEndian.AppendUint16(m, uint16(kind))
	m = binary.NativeEndian.AppendUint16(m, uint16(flags))
	m = append(m, make([]byte, 8)...) // sequence and port: not used
	m = append(m, syscall.AF_INET, 0)
	m = binary.BigEndian.AppendUint16(m, queue)
	return append(m, body...)
}

func attribute(kind int, value []byte) []byte {
	a := binary.NativeEndian.AppendUint16(nil, uint16(4+len(value)))
	a = binary.NativeEndian.AppendUint16(a, uint16(kind))
	a = append(a, value...)
	return append(a, make([]byte, aligned(len(a))-len(a))...)
}

func send(socket int, m []byte) error {
	return syscall.Sendto(socket, m, 0, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK})
}

func aligned(n int) int { return (n + 3) &^ 3 }
