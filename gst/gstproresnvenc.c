/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * SECTION:element-proresnvenc
 * @title: proresnvenc
 *
 * Encodes raw video to Apple ProRes (SMPTE RDD 36): 422 Proxy, LT, 422 and HQ
 * from 4:2:2 video, 4444 and 4444 XQ from 4:4:4 video with or without alpha, of
 * 8 to 16 bits, progressive or interlaced. Full range video is brought to the
 * video range that ProRes holds. #GstQTMux makes a .mov file of the result.
 * Every frame stands alone, so a file can be cut anywhere.
 *
 * With rate-control=target, the default, a frame takes the data rate that Apple
 * publishes for its profile and size, never more, and less where it is easy.
 *
 * ## Example launch lines
 *
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=250 ! proresnvenc ! qtmux ! filesink location=test.mov
 * ]| Ten seconds of a test pattern as ProRes 422 HQ.
 *
 * |[
 * gst-launch-1.0 filesrc location=in.mp4 ! decodebin ! proresnvenc profile=lt ! qtmux ! filesink location=out.mov
 * ]| The video of a file as ProRes 422 LT.
 *
 * |[
 * gst-launch-1.0 -e v4l2src ! queue ! proresnvenc ! qtmux ! filesink location=live.mov
 * ]| Records a camera until Ctrl-C.
 *
 * |[
 * gst-launch-1.0 filesrc location=in.mp4 ! qtdemux ! h264parse ! nvh264dec ! cudaconvert ! "video/x-raw(memory:CUDAMemory),format=Y444_16LE" ! proresnvenc backend=cuda ! qtmux ! filesink location=out.mov
 * ]| Decodes, converts and encodes on an NVIDIA GPU; frames never leave it.
 *
 * Since: 0.1
 */
#include "gstproresnvenc.h"

#include "gstproresnvcaps.h"
#include "gstproresnvfields.h"
#include "gstproresnvmemory.h"
#include "gstproresnvopen.h"
#include "gstproresnvpicture.h"
#include "gstproresnvsettings.h"
#include "gstproresnvstats.h"

GST_DEBUG_CATEGORY (gst_prores_nv_enc_debug);
#define GST_CAT_DEFAULT gst_prores_nv_enc_debug

/* One frame between handle_frame() and the end of its coding. */
typedef struct
{
  GstVideoCodecFrame *frame;
  GstVideoCodecFrame *partner;  /* of the second field, in alternate video */
  gboolean late;                /* not to be coded: only told, in its turn */
  GstVideoFrame video[2];       /* mapped, unless late; [1] is the partner's */
  gpointer event;               /* for a GPU to wait for, or NULL */
} Slot;

struct _GstProresNvEnc
{
  GstVideoEncoder parent;

  /* Properties, under the object lock; an encoder is opened with them. */
  GstProresNvSettings settings;

  /* Written by the streaming thread while no frame is held. */
  GstProresNvSettings used;     /* as they were when caps came */
  PnvParams params;             /* what follows from those and the caps */
  PnvEncoder *enc;
  GstProresNvMemory memory;
  GstVideoInfo info;            /* but its field order, which may change */
  GstVideoCodecState *input;    /* until the source pad has its caps */
  guint depth;                  /* frames in flight, and slots in use */
  guint tail;                   /* slot of the next frame */
  PnvInterlace order;           /* of fields, as the source caps say it */
  gboolean order_warned;
  GstVideoCodecFrame *first_field;      /* waits for its partner */

  guint head;                   /* the pushing task's: slot of the oldest */
  PnvPacket packet;             /* of the frame that is pushed, but its data */
  Slot slots[PNV_MAX_FRAMES_IN_FLIGHT];

  /* All below is under this lock. The stream lock is never taken inside. */
  GMutex lock;
  GCond changed;
  guint n_queued;               /* slots from head on */
  gboolean pushing;             /* one more frame is with the task */
  gboolean flushing;            /* since FLUSH_START: push nothing */
  gboolean stopping;            /* the task ends, nobody waits */
  gboolean sending;             /* a frame is on its way into a slot */
  GString *lost;                /* times of frames that went with a GPU */
  GstFlowReturn flow;           /* of the last push, for handle_frame() */
  GstProresNvStats stats;
  const gchar *backend_name;
};

#define PROP_STATS GST_PRORES_NV_N_SETTINGS

static void gst_prores_nv_enc_finalize (GObject * object);
static void gst_prores_nv_enc_set_context (GstElement * element,
    GstContext * context);
static GstStateChangeReturn gst_prores_nv_enc_change_state (GstElement *
    element, GstStateChange transition);
static gboolean gst_prores_nv_enc_start (GstVideoEncoder * encoder);
static gboolean gst_prores_nv_enc_stop (GstVideoEncoder * encoder);
static gboolean gst_prores_nv_enc_close (GstVideoEncoder * encoder);
static GstCaps *gst_prores_nv_enc_getcaps (GstVideoEncoder * encoder,
    GstCaps * filter);
static gboolean gst_prores_nv_enc_set_format (GstVideoEncoder * encoder,
    GstVideoCodecState * state);
static GstFlowReturn gst_prores_nv_enc_handle_frame (GstVideoEncoder * encoder,
    GstVideoCodecFrame * frame);
static GstFlowReturn gst_prores_nv_enc_pre_push (GstVideoEncoder * encoder,
    GstVideoCodecFrame * frame);
static GstFlowReturn gst_prores_nv_enc_finish (GstVideoEncoder * encoder);
static gboolean gst_prores_nv_enc_flush (GstVideoEncoder * encoder);
static gboolean gst_prores_nv_enc_sink_event (GstVideoEncoder * encoder,
    GstEvent * event);
static gboolean gst_prores_nv_enc_sink_query (GstVideoEncoder * encoder,
    GstQuery * query);
static gboolean gst_prores_nv_enc_src_query (GstVideoEncoder * encoder,
    GstQuery * query);
static gboolean gst_prores_nv_enc_propose_allocation (GstVideoEncoder *
    encoder, GstQuery * query);
static gboolean gst_prores_nv_enc_transform_meta (GstVideoEncoder * encoder,
    GstVideoCodecFrame * frame, GstMeta * meta);
static void gst_prores_nv_enc_set_property (GObject * object, guint id,
    const GValue * value, GParamSpec * pspec);
static void gst_prores_nv_enc_get_property (GObject * object, guint id,
    GValue * value, GParamSpec * pspec);

G_DEFINE_TYPE (GstProresNvEnc, gst_prores_nv_enc, GST_TYPE_VIDEO_ENCODER);
GST_ELEMENT_REGISTER_DEFINE_WITH_CODE (proresnvenc, "proresnvenc",
    GST_RANK_PRIMARY, GST_TYPE_PRORES_NV_ENC,
    GST_DEBUG_CATEGORY_INIT (gst_prores_nv_enc_debug, "proresnvenc", 0,
        "ProRes encoder"));

static void
gst_prores_nv_enc_class_init (GstProresNvEncClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstVideoEncoderClass *encoder_class = GST_VIDEO_ENCODER_CLASS (klass);
  GstCaps *caps;

  object_class->set_property = gst_prores_nv_enc_set_property;
  object_class->get_property = gst_prores_nv_enc_get_property;
  object_class->finalize = gst_prores_nv_enc_finalize;
  gst_prores_nv_settings_install (object_class);

  /**
   * GstProresNvEnc:stats:
   *
   * Since the last start: "frames" (guint64) encoded and handed on, "dropped"
   * (guint64) that were late, "bytes" (guint64) in total, "mean-frame-size"
   * and "max-frame-size" (guint64) in bytes, "mean-target-size" (guint64) that
   * the frames aimed at and "fill" (double) of it that they took, alpha aside,
   * both 0 without a target; "mean-quantizer" (double), "min-quantizer" and
   * "max-quantizer" (guint) of the frames; "raised" (guint64) frames that took
   * a larger quantizer than the constant one to keep to max-frame-size,
   * "over-target" (guint64) that passed their target at the coarsest one;
   * "downloads" (guint64) frames that came in the memory of a GPU and were
   * brought to the CPU, "device-copies" (guint64) that came in the memory of
   * another GPU or context and were copied from there, "staging-copies"
   * (guint64) that the CPU copied on their way to a GPU, "packet-copies"
   * (guint64) encoded ones that it copied on their way out, "fallbacks"
   * (guint64) frames that it encoded because CUDA failed; "backend" (string) in
   * use, "none" before there is one.
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "Frames, drops, sizes and the backend in use",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));

  gst_element_class_set_static_metadata (element_class,
      "ProRes encoder", "Codec/Encoder/Video",
      "Encodes video to Apple ProRes on the CPU or an NVIDIA GPU",
      "proresnvenc contributors");
  caps = gst_prores_nv_sink_template_caps ();
  gst_element_class_add_pad_template (element_class,
      gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_caps_unref (caps);
  caps = gst_prores_nv_src_template_caps ();
  gst_element_class_add_pad_template (element_class,
      gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref (caps);

  element_class->change_state =
      GST_DEBUG_FUNCPTR (gst_prores_nv_enc_change_state);
  element_class->set_context =
      GST_DEBUG_FUNCPTR (gst_prores_nv_enc_set_context);
  encoder_class->start = GST_DEBUG_FUNCPTR (gst_prores_nv_enc_start);
  encoder_class->stop = GST_DEBUG_FUNCPTR (gst_prores_nv_enc_stop);
  encoder_class->close = GST_DEBUG_FUNCPTR (gst_prores_nv_enc_close);
  encoder_class->getcaps = GST_DEBUG_FUNCPTR (gst_prores_nv_enc_getcaps);
  encoder_class->set_format = GST_DEBUG_FUNCPTR (gst_prores_nv_enc_set_format);
  encoder_class->handle_frame =
      GST_DEBUG_FUNCPTR (gst_prores_nv_enc_handle_frame);
  encoder_class->pre_push = GST_DEBUG_FUNCPTR (gst_prores_nv_enc_pre_push);
  encoder_class->finish = GST_DEBUG_FUNCPTR (gst_prores_nv_enc_finish);
  encoder_class->flush = GST_DEBUG_FUNCPTR (gst_prores_nv_enc_flush);
  encoder_class->sink_event = GST_DEBUG_FUNCPTR (gst_prores_nv_enc_sink_event);
  encoder_class->sink_query = GST_DEBUG_FUNCPTR (gst_prores_nv_enc_sink_query);
  encoder_class->src_query = GST_DEBUG_FUNCPTR (gst_prores_nv_enc_src_query);
  encoder_class->propose_allocation =
      GST_DEBUG_FUNCPTR (gst_prores_nv_enc_propose_allocation);
  encoder_class->transform_meta =
      GST_DEBUG_FUNCPTR (gst_prores_nv_enc_transform_meta);
}

static void
gst_prores_nv_enc_init (GstProresNvEnc * self)
{
  /* Caps of the template are let in to be refused with a reason. */
  GST_PAD_SET_ACCEPT_TEMPLATE (GST_VIDEO_ENCODER_SINK_PAD (self));

  gst_prores_nv_settings_init (&self->settings);
  gst_prores_nv_memory_init (&self->memory);

  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  self->flow = GST_FLOW_OK;
  self->backend_name = "none";
}

static void
gst_prores_nv_enc_finalize (GObject * object)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (object);

  gst_prores_nv_settings_clear (&self->settings);
  gst_prores_nv_settings_clear (&self->used);
  gst_prores_nv_memory_clear (&self->memory);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);

  G_OBJECT_CLASS (gst_prores_nv_enc_parent_class)->finalize (object);
}

static void
packet_free (gpointer data)
{
  PnvPacket *packet = data;

  pnv_packet_release (packet);
  g_free (packet);
}

/* The packet's memory becomes the buffer's, without a copy. */
static GstBuffer *
packet_to_buffer (const PnvPacket * packet)
{
  PnvPacket *held = g_new (PnvPacket, 1);
  GstBuffer *buffer = gst_buffer_new ();

  *held = *packet;
  gst_buffer_append_memory (buffer,
      gst_memory_new_wrapped (GST_MEMORY_FLAG_READONLY, (gpointer) held->data,
          held->size, 0, held->size, held, packet_free));
  return buffer;
}

/* Ends the mapping of what a slot holds. */
static void
unmap_slot (Slot * slot)
{
  gst_video_frame_unmap (&slot->video[0]);
  if (slot->partner)
    gst_video_frame_unmap (&slot->video[1]);
}

/* Remembers a frame that was in the memory of a GPU and went with it. */
static void
note_lost (GstProresNvEnc * self, const GstVideoCodecFrame * frame)
{
  g_mutex_lock (&self->lock);
  if (!self->lost)
    self->lost = g_string_new (NULL);
  g_string_append_printf (self->lost, "%s%" GST_TIME_FORMAT,
      self->lost->len > 0 ? ", " : "", GST_TIME_ARGS (frame->pts));
  g_mutex_unlock (&self->lock);
}

static void
free_lost (GstProresNvEnc * self)
{
  if (self->lost)
    g_string_free (self->lost, TRUE);
  self->lost = NULL;
}

/* When all frames in flight are back, and no other can be on its way, one error
 * names those that are lost. Until then nobody gets in. */
static void
tell_lost (GstProresNvEnc * self)
{
  gboolean is_told;

  g_mutex_lock (&self->lock);
  while (self->lost && self->sending)
    g_cond_wait (&self->changed, &self->lock);
  is_told = self->lost && self->n_queued == 0 && !self->flushing
      && !self->stopping;
  if (self->lost && self->n_queued == 0 && !is_told)
    free_lost (self);
  g_mutex_unlock (&self->lock);
  if (!is_told)
    return;

  GST_ELEMENT_ERROR (self, RESOURCE, FAILED,
      ("Frames in the memory of a GPU were lost with it and are missing from "
          "the result: those at %s. Start the pipeline again.",
          self->lost->str), (NULL));
  g_mutex_lock (&self->lock);
  free_lost (self);
  self->flow = GST_FLOW_ERROR;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

/* Waits until the oldest frame is coded, and frees its slot. The frame comes
 * with its packet, without one if it is late or its coding failed, and with the
 * frame of its second field if that has one of its own. */
static GstVideoCodecFrame *
take_oldest (GstProresNvEnc * self, GstVideoCodecFrame ** partner)
{
  Slot *slot = &self->slots[self->head];
  GstVideoCodecFrame *frame = slot->frame;

  *partner = slot->partner;
  memset (&self->packet, 0, sizeof self->packet);
  if (!slot->late) {
    PnvPacket packet = { 0 };
    PnvStatus status = pnv_collect (self->enc, &packet);

    g_assert (packet.tag == slot);
    unmap_slot (slot);
    if (status == PNV_OK) {
      frame->output_buffer = packet_to_buffer (&packet);
      self->packet = packet;
      self->packet.data = NULL;
      self->packet.owner = NULL;
    } else if (status == PNV_ENODEV) {
      note_lost (self, frame);
      pnv_packet_release (&packet);
    } else {
      GST_ELEMENT_WARNING (self, STREAM, ENCODE,
          ("A frame could not be encoded and is missing from the result."),
          ("frame at %" GST_TIME_FORMAT ": %s", GST_TIME_ARGS (frame->pts),
              packet.error ? packet.error : "unknown error"));
      pnv_packet_release (&packet);
    }
  }

  g_mutex_lock (&self->lock);
  self->head = (self->head + 1) % self->depth;
  self->n_queued--;
  self->pushing = TRUE;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  return frame;
}

/* Called with the stream lock. Gives up a frame without a word: an empty
 * buffer is what pre_push() lets nobody see. */
static GstFlowReturn
discard_frame (GstProresNvEnc * self, GstVideoCodecFrame * frame)
{
  gst_buffer_replace (&frame->output_buffer, NULL);
  frame->output_buffer = gst_buffer_new ();
  return gst_video_encoder_finish_frame (GST_VIDEO_ENCODER (self), frame);
}

/* The size of a frame that no quantizer could make small enough. Where the
 * user set the maximum, a frame that passes it must not go out. Others are
 * told of once, as many may follow, and counted. */
static GstFlowReturn
check_size (GstProresNvEnc * self, const GstVideoCodecFrame * frame)
{
  const PnvPacket *packet = &self->packet;

  if (!packet->over_limit)
    return GST_FLOW_OK;
  if (pnv_params (self->enc)->max_frame_bytes > 0) {
    GST_ELEMENT_ERROR (self, STREAM, ENCODE,
        ("A frame takes %" G_GSIZE_FORMAT " bytes even at the coarsest "
            "quantizer, and max-frame-size is %u. Set a larger one.",
            packet->size, packet->limit_bytes),
        ("frame at %" GST_TIME_FORMAT, GST_TIME_ARGS (frame->pts)));
    return GST_FLOW_ERROR;
  }
  if (self->stats.over_target == 0)
    GST_ELEMENT_WARNING (self, STREAM, ENCODE,
        ("A frame takes %" G_GSIZE_FORMAT " bytes even at the coarsest "
            "quantizer, more than its target of %u. Set a larger bitrate.",
            packet->size, packet->limit_bytes),
        ("frame at %" GST_TIME_FORMAT "; more are counted in stats",
            GST_TIME_ARGS (frame->pts)));
  return GST_FLOW_OK;
}

/* Pushes a frame, or lets one without a packet be told as dropped, in a QoS
 * message. */
static GstFlowReturn
push_frame (GstProresNvEnc * self, GstVideoCodecFrame * frame)
{
  GstFlowReturn flow = check_size (self, frame);

  if (flow != GST_FLOW_OK) {
    discard_frame (self, frame);
    return flow;
  }
  /* RDD 36 has no other frames. */
  GST_VIDEO_CODEC_FRAME_SET_SYNC_POINT (frame);
  return gst_video_encoder_finish_frame (GST_VIDEO_ENCODER (self), frame);
}

/* Task of the source pad: pushes each frame as soon as it is coded. It is the
 * only one to push while frames are held, so their order and that of the
 * events between them is kept. */
static void
gst_prores_nv_enc_loop (gpointer data)
{
  GstProresNvEnc *self = data;
  GstVideoCodecFrame *frame, *partner;
  GstFlowReturn flow;
  gboolean discard;

  g_mutex_lock (&self->lock);
  while (self->n_queued == 0 && !self->stopping)
    g_cond_wait (&self->changed, &self->lock);
  if (self->stopping) {
    g_mutex_unlock (&self->lock);
    gst_pad_pause_task (GST_VIDEO_ENCODER_SRC_PAD (self));
    return;
  }
  g_mutex_unlock (&self->lock);

  frame = take_oldest (self, &partner);

  g_mutex_lock (&self->lock);
  discard = self->flushing || self->stopping || self->flow != GST_FLOW_OK;
  if (!frame->output_buffer && !discard)
    self->stats.dropped++;
  g_mutex_unlock (&self->lock);

  flow = discard ? discard_frame (self, frame) : push_frame (self, frame);
  if (partner)
    discard_frame (self, partner);
  tell_lost (self);

  g_mutex_lock (&self->lock);
  self->pushing = FALSE;
  if (!discard && flow != GST_FLOW_OK) {
    GST_DEBUG_OBJECT (self, "downstream says %s", gst_flow_get_name (flow));
    self->flow = flow;
  }
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

/* Called without the stream lock, which the task needs to push. FALSE when
 * the element is being stopped: then frames may still be held. */
static gboolean
wait_until_idle (GstProresNvEnc * self)
{
  gboolean idle;

  g_mutex_lock (&self->lock);
  while ((self->n_queued > 0 || self->pushing) && !self->stopping)
    g_cond_wait (&self->changed, &self->lock);
  idle = self->n_queued == 0 && !self->pushing;
  g_mutex_unlock (&self->lock);
  return idle;
}

/* Called without the stream lock. */
static GstFlowReturn
wait_for_room (GstProresNvEnc * self)
{
  GstFlowReturn flow;

  g_mutex_lock (&self->lock);
  while ((self->n_queued >= self->depth || self->lost) && !self->stopping
      && !self->flushing && self->flow == GST_FLOW_OK)
    g_cond_wait (&self->changed, &self->lock);
  flow = self->stopping || self->flushing ? GST_FLOW_FLUSHING : self->flow;
  self->sending = flow == GST_FLOW_OK;
  /* These end when downstream is linked or active again, without a word to
   * us: told once, then the next frame tries. */
  if (self->flow == GST_FLOW_NOT_LINKED || self->flow == GST_FLOW_FLUSHING)
    self->flow = GST_FLOW_OK;
  g_mutex_unlock (&self->lock);
  return flow;
}

static GstStateChangeReturn
gst_prores_nv_enc_change_state (GstElement * element, GstStateChange transition)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (element);

  /* Before the pads are deactivated, which waits for both threads. */
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    g_mutex_lock (&self->lock);
    self->stopping = TRUE;
    g_cond_broadcast (&self->changed);
    g_mutex_unlock (&self->lock);
  }
  return GST_ELEMENT_CLASS (gst_prores_nv_enc_parent_class)->change_state
      (element, transition);
}

/* Which GPU, as the property says. */
static gint
wanted_device (GstProresNvEnc * self)
{
  gint device;

  GST_OBJECT_LOCK (self);
  device = self->settings.cuda_device_id;
  GST_OBJECT_UNLOCK (self);
  return device;
}

/* A CUDA context is not left to the parent, who would keep it beyond READY. */
static void
gst_prores_nv_enc_set_context (GstElement * element, GstContext * context)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (element);

  if (!gst_prores_nv_memory_set_context (&self->memory, element, context,
          wanted_device (self)))
    GST_ELEMENT_CLASS (gst_prores_nv_enc_parent_class)->set_context (element,
        context);
}

/* What the properties say now. */
static void
copy_settings (GstProresNvEnc * self, GstProresNvSettings * settings)
{
  GST_OBJECT_LOCK (self);
  gst_prores_nv_settings_copy (settings, &self->settings);
  GST_OBJECT_UNLOCK (self);
}

static gboolean
gst_prores_nv_enc_start (GstVideoEncoder * encoder)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (encoder);

  GstProresNvSettings settings = { 0 };
  gboolean valid;

  copy_settings (self, &settings);
  valid = gst_prores_nv_open_check_id (GST_ELEMENT (self), &settings);
  gst_prores_nv_settings_clear (&settings);
  if (!valid)
    return FALSE;

  g_mutex_lock (&self->lock);
  self->flushing = self->stopping = FALSE;
  self->flow = GST_FLOW_OK;
  memset (&self->stats, 0, sizeof self->stats);
  g_mutex_unlock (&self->lock);
  return TRUE;
}

/* While no frame is held. Memory that upstream still has stays valid. */
static void
close_encoder (GstProresNvEnc * self)
{
  PnvEncoder *enc;

  g_mutex_lock (&self->lock);
  enc = g_steal_pointer (&self->enc);
  if (enc)
    gst_prores_nv_stats_keep (&self->stats, enc);
  g_mutex_unlock (&self->lock);
  for (guint i = 0; i < G_N_ELEMENTS (self->slots); i++)
    if (self->slots[i].event)
      gst_prores_nv_cuda_clear_event (self->memory.context,
          &self->slots[i].event);
  gst_prores_nv_memory_close (&self->memory, enc);
}

static gboolean
gst_prores_nv_enc_stop (GstVideoEncoder * encoder)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (encoder);

  gst_pad_stop_task (GST_VIDEO_ENCODER_SRC_PAD (self));
  while (self->n_queued > 0) {
    GstVideoCodecFrame *partner;

    gst_video_codec_frame_unref (take_oldest (self, &partner));
    g_clear_pointer (&partner, gst_video_codec_frame_unref);
  }
  g_clear_pointer (&self->first_field, gst_video_codec_frame_unref);
  g_clear_pointer (&self->input, gst_video_codec_state_unref);
  self->pushing = FALSE;
  free_lost (self);
  close_encoder (self);
  return TRUE;
}

/* To NULL. */
static gboolean
gst_prores_nv_enc_close (GstVideoEncoder * encoder)
{
  gst_prores_nv_memory_drop_context (&GST_PRORES_NV_ENC (encoder)->memory);
  return TRUE;
}

/* What downstream takes, any caps if nothing is there. */
static GstCaps *
downstream_caps (GstProresNvEnc * self)
{
  return gst_pad_peer_query_caps (GST_VIDEO_ENCODER_SRC_PAD (self), NULL);
}

static GstCaps *
gst_prores_nv_enc_getcaps (GstVideoEncoder * encoder, GstCaps * filter)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (encoder);
  GstCaps *downstream = downstream_caps (self), *caps;
  PnvProfile profile;
  PnvBackend backend;

  GST_OBJECT_LOCK (self);
  profile = self->settings.profile;
  backend = self->settings.backend;
  GST_OBJECT_UNLOCK (self);

  caps = gst_prores_nv_sink_caps (profile, backend, downstream);
  if (filter) {
    GstCaps *all = caps;
    /* In our order, which is that of quality. */
    caps = gst_caps_intersect_full (all, filter, GST_CAPS_INTERSECT_FIRST);
    if (gst_caps_is_empty (caps))
      GST_WARNING_OBJECT (self, "profile=%s and downstream leave %"
          GST_PTR_FORMAT ", upstream offers %" GST_PTR_FORMAT
          ", downstream takes %" GST_PTR_FORMAT, pnv_profile_name (profile),
          all, filter, downstream);
    gst_caps_unref (all);
  }
  gst_caps_unref (downstream);
  return caps;
}

/* Opens the core as planned, to work in @context, or NULL: in any. */
static gboolean
open_encoder (GstProresNvEnc * self, GstCudaContext * context,
    const GstCaps * caps)
{
  PnvEncoder *enc = gst_prores_nv_open (GST_ELEMENT (self), &self->params,
      context, caps);

  if (!enc)
    return FALSE;
  gst_prores_nv_memory_open (&self->memory, GST_ELEMENT (self), enc, context);
  self->depth = pnv_params (enc)->frames_in_flight;
  self->head = self->tail = 0;
  g_mutex_lock (&self->lock);
  self->enc = enc;
  self->backend_name = pnv_backend_name (enc);
  g_mutex_unlock (&self->lock);
  return TRUE;
}

/* A frame goes out as soon as it is coded. How long that takes is unknown, but
 * each input waits until fewer than depth frames are in flight: where encoding
 * keeps up with the source, no frame stays longer than depth frame durations,
 * at depth 1 never beyond the arrival of the next one. A first field waits half
 * a frame for its second. An unknown rate gives no duration, and none is
 * guessed. */
static void
report_latency (GstProresNvEnc * self)
{
  GstClockTime min = 0, max = GST_CLOCK_TIME_NONE;
  const GstVideoInfo *info = &self->info;
  const guint halves =
      2 * self->depth + (gst_prores_nv_fields_alternate (info) ? 1 : 0);

  if (info->fps_n > 0 && !(info->flags & GST_VIDEO_FLAG_VARIABLE_FPS))
    max = gst_util_uint64_scale (halves * GST_SECOND, info->fps_d,
        2 * (guint64) info->fps_n);
  /* A frame that lasts for centuries has no latency that a clock can say. */
  if (max > G_MAXINT64)
    max = GST_CLOCK_TIME_NONE;
  if (GST_CLOCK_TIME_IS_VALID (max))
    min = max;
  gst_video_encoder_set_latency (GST_VIDEO_ENCODER (self), min, max);
}

/* A bitrate that is aimed at is a tag; what a constant quantizer gives nobody
 * knows before. A tag of former caps is taken back. */
static void
tag_bitrate (GstProresNvEnc * self)
{
  const PnvParams *params = pnv_params (self->enc);
  const guint bits = MIN ((guint) params->bitrate, G_MAXUINT / 1000) * 1000;
  GstTagList *tags = NULL;

  if (params->rate_control == PNV_RATE_TARGET && bits > 0)
    tags = gst_tag_list_new (GST_TAG_BITRATE, bits, NULL);
  gst_video_encoder_merge_tags (GST_VIDEO_ENCODER (self), tags,
      GST_TAG_MERGE_REPLACE);
  g_clear_pointer (&tags, gst_tag_list_unref);
}

/* Caps that downstream has now, NULL if none. */
static GstCaps *
peer_caps (GstPad * pad)
{
  GstPad *peer = gst_pad_get_peer (pad);
  GstCaps *caps = peer ? gst_pad_get_current_caps (peer) : NULL;

  g_clear_object (&peer);
  return caps;
}

/* Whether downstream has refused the caps of the source pad: the event that
 * carries them is sticky, so that sending it succeeds all the same. What was
 * refused is not there, or still what was there @before; other caps are what a
 * probe made of ours. A pad that is not active yet gets them later. */
static gboolean
peer_refused (GstPad * pad, const GstCaps * before)
{
  GstPad *peer = gst_pad_get_peer (pad);
  const gboolean listens = peer && GST_PAD_IS_ACTIVE (peer)
      && !GST_PAD_IS_FLUSHING (peer) && !GST_PAD_IS_FLUSHING (pad);
  GstCaps *ours = gst_pad_get_current_caps (pad), *theirs = peer_caps (pad);
  const gboolean arrived = theirs && ours && (gst_caps_is_equal (theirs, ours)
      || !before || !gst_caps_is_equal (theirs, before));

  gst_clear_caps (&ours);
  gst_clear_caps (&theirs);
  g_clear_object (&peer);
  return listens && !arrived;
}

/* Gives the source pad its caps. TRUE as well while downstream flushes:
 * finish_frame() negotiates again. */
static gboolean
negotiate_output (GstProresNvEnc * self)
{
  GstVideoEncoder *encoder = GST_VIDEO_ENCODER (self);
  GstPad *pad = GST_VIDEO_ENCODER_SRC_PAD (self);
  const PnvParams *params = pnv_params (self->enc);
  GstCaps *downstream = downstream_caps (self), *before;
  GstVideoCodecState *input = g_steal_pointer (&self->input), *output;
  gboolean done;

  output = gst_video_encoder_set_output_state (encoder,
      gst_prores_nv_src_caps (params->profile, params->alpha_bits > 0), input);
  output->info.colorimetry =
      gst_prores_nv_src_colorimetry (&input->info, downstream);
  output->info.chroma_site =
      gst_prores_nv_src_chroma_site (&input->info, input->caps,
      params->profile);
  /* Both fields come in one frame, whatever they came in. */
  if (gst_prores_nv_fields_alternate (&input->info))
    GST_VIDEO_INFO_INTERLACE_MODE (&output->info) =
        GST_VIDEO_INTERLACE_MODE_INTERLEAVED;
  GST_VIDEO_INFO_FIELD_ORDER (&output->info) =
      gst_prores_nv_fields_order (self->order);
  gst_video_codec_state_unref (output);

  before = peer_caps (pad);
  done = (gst_video_encoder_negotiate (encoder) && !peer_refused (pad, before))
      || GST_PAD_IS_FLUSHING (pad);
  gst_clear_caps (&before);
  if (!done)
    GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
        ("Downstream refuses this ProRes video. Change the caps before or "
            "after proresnvenc; a file, once begun, keeps its size."),
        ("input caps %" GST_PTR_FORMAT ", profile %s, downstream takes %"
            GST_PTR_FORMAT, input->caps, pnv_profile_name (params->profile),
            downstream));
  gst_video_codec_state_unref (input);
  gst_caps_unref (downstream);
  return done;
}

/* Whether the order of fields has to be seen in the first buffer. */
static gboolean
order_is_open (GstProresNvEnc * self)
{
  const GstVideoInterlaceMode mode =
      GST_VIDEO_INFO_INTERLACE_MODE (&self->info);

  return self->order == PNV_PROGRESSIVE
      && (mode == GST_VIDEO_INTERLACE_MODE_INTERLEAVED
      || mode == GST_VIDEO_INTERLACE_MODE_ALTERNATE);
}

static GstFlowReturn code_lone_field (GstProresNvEnc * self);

static gboolean
gst_prores_nv_enc_set_format (GstVideoEncoder * encoder,
    GstVideoCodecState * state)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (encoder);
  GstCudaContext *context;
  GstCaps *downstream;
  gboolean idle, done;

  /* The frames of the old format go out first, under their caps. */
  code_lone_field (self);
  GST_VIDEO_ENCODER_STREAM_UNLOCK (self);
  idle = wait_until_idle (self);
  GST_VIDEO_ENCODER_STREAM_LOCK (self);
  if (!idle)
    return FALSE;
  close_encoder (self);
  g_clear_pointer (&self->input, gst_video_codec_state_unref);

  copy_settings (self, &self->used);
  downstream = downstream_caps (self);
  done = gst_prores_nv_open_plan (GST_ELEMENT (self), &self->used,
      &state->info, state->caps, downstream, &self->params);
  gst_caps_unref (downstream);
  if (!done)
    return FALSE;

  self->info = state->info;
  self->order = gst_prores_nv_fields_of_caps (&self->info);
  self->order_warned = FALSE;
  context = gst_prores_nv_memory_context_for_caps (&self->memory,
      GST_ELEMENT (self), state->caps, self->used.cuda_device_id);
  if (!open_encoder (self, context, state->caps))
    return FALSE;
  report_latency (self);
  tag_bitrate (self);
  self->input = gst_video_codec_state_ref (state);
  if (!order_is_open (self) && !negotiate_output (self)) {
    close_encoder (self);
    return FALSE;
  }

  g_mutex_lock (&self->lock);
  if (self->flow == GST_FLOW_NOT_NEGOTIATED)
    self->flow = GST_FLOW_OK;
  g_mutex_unlock (&self->lock);
  return gst_pad_start_task (GST_VIDEO_ENCODER_SRC_PAD (self),
      gst_prores_nv_enc_loop, self, NULL);
}

/* For the GPU to read where a frame is in its reach, else for the CPU. */
static gboolean
map_slot (GstProresNvEnc * self, Slot * slot, PnvPicture * picture)
{
  GstElement *element = GST_ELEMENT (self);
  GstBuffer *buffer = slot->frame->input_buffer;
  const gboolean is_reached = !slot->partner
      && gst_prores_nv_memory_reaches (self->enc, buffer);

  if (!gst_prores_nv_picture_map (element, &self->info, buffer,
          is_reached ? gst_prores_nv_cuda_map_flags () : 0, &slot->video[0]))
    return FALSE;
  if (slot->partner && !gst_prores_nv_picture_map (element, &self->info,
          slot->partner->input_buffer, 0, &slot->video[1])) {
    gst_video_frame_unmap (&slot->video[0]);
    return FALSE;
  }
  if (is_reached) {
    picture->memory = PNV_MEMORY_CUDA;
    picture->cuda_event = gst_prores_nv_memory_fence (&self->memory, buffer,
        &slot->event);
  }
  return TRUE;
}

/* The source caps keep the order that they began with. */
static void
check_order (GstProresNvEnc * self, PnvInterlace interlace)
{
  if (self->order == PNV_PROGRESSIVE || interlace == self->order
      || self->order_warned)
    return;
  self->order_warned = TRUE;
  GST_ELEMENT_WARNING (self, STREAM, FORMAT,
      ("The order of fields changes in mid-stream. Each frame says its own, "
          "but the file says the first for all; players may go by that."),
      ("caps: %s first, this frame: %s first",
          self->order == PNV_TOP_FIELD_FIRST ? "top" : "bottom",
          interlace == PNV_TOP_FIELD_FIRST ? "top" : "bottom"));
}

static void
count_download (GstProresNvEnc * self)
{
  g_mutex_lock (&self->lock);
  self->stats.downloads++;
  g_mutex_unlock (&self->lock);
}

/* Hands the frame in a free slot to the core. */
static GstFlowReturn
send_frame (GstProresNvEnc * self, Slot * slot)
{
  PnvPicture picture = {.tag = slot };
  gboolean described;
  PnvStats before;
  PnvStatus status;

  if (!map_slot (self, slot, &picture))
    return GST_FLOW_ERROR;
  if (gst_prores_nv_fields_alternate (&self->info)) {
    /* A field that has no partner stands for both. */
    picture.interlace = slot->partner ?
        gst_prores_nv_fields_of_pair (slot->frame->input_buffer) : self->order;
    check_order (self, picture.interlace);
    described = gst_prores_nv_picture_describe_fields (GST_ELEMENT (self),
        &self->info, &slot->video[0], &slot->video[slot->partner ? 1 : 0],
        &picture);
  } else {
    picture.interlace = gst_prores_nv_fields_of_buffer (&self->info,
        slot->frame->input_buffer);
    check_order (self, picture.interlace);
    described = gst_prores_nv_picture_describe (GST_ELEMENT (self),
        &self->info, &slot->video[0], &picture);
  }
  if (!described) {
    unmap_slot (slot);
    return GST_FLOW_ERROR;
  }

  pnv_stats (self->enc, &before);
  status = pnv_stage (self->enc, &picture);
  if (status == PNV_OK) {
    if (gst_prores_nv_memory_note (&self->memory, GST_ELEMENT (self),
            self->enc, slot->frame->input_buffer, &picture, &before))
      count_download (self);
    status = pnv_submit (self->enc);
  }
  if (status != PNV_OK) {
    unmap_slot (slot);
    GST_ELEMENT_ERROR (self, STREAM, ENCODE,
        ("A frame cannot be read as its buffer describes it. Put videoconvert "
            "before proresnvenc."), ("%s", pnv_error (self->enc)));
    return GST_FLOW_ERROR;
  }
  return GST_FLOW_OK;
}

/* Called without the stream lock when there is room. */
static GstFlowReturn
queue_frame (GstProresNvEnc * self, GstVideoCodecFrame * frame,
    GstVideoCodecFrame * partner)
{
  Slot *slot = &self->slots[self->tail];
  GstFlowReturn flow = GST_FLOW_OK;

  slot->frame = frame;
  slot->partner = partner;
  /* Too late already: not worth the work, but told in its turn. Never so
   * without qos=true and news of lateness from downstream. */
  slot->late = gst_video_encoder_get_max_encode_time (GST_VIDEO_ENCODER (self),
      frame) < 0;
  if (!slot->late)
    flow = send_frame (self, slot);
  if (flow == GST_FLOW_OK)
    self->tail = (self->tail + 1) % self->depth;

  g_mutex_lock (&self->lock);
  self->sending = FALSE;
  if (flow == GST_FLOW_OK)
    self->n_queued++;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  return flow;
}

/* Called without the stream lock. Where frames begin to come in the memory of
 * another CUDA context, the encoder moves there. */
static GstFlowReturn
follow_memory (GstProresNvEnc * self, GstBuffer * buffer)
{
  GstCudaContext *context = NULL;
  GstCaps *caps;
  gboolean done;

  if (self->params.backend != PNV_BACKEND_CPU)
    context = gst_prores_nv_memory_context_for_buffer (&self->memory,
        GST_ELEMENT (self), buffer, self->used.cuda_device_id);
  if (!context)
    return GST_FLOW_OK;
  if (!wait_until_idle (self))
    return GST_FLOW_FLUSHING;
  close_encoder (self);
  caps = gst_pad_get_current_caps (GST_VIDEO_ENCODER_SINK_PAD (self));
  done = open_encoder (self, context, caps);
  gst_clear_caps (&caps);
  if (done)
    report_latency (self);
  return done ? GST_FLOW_OK : GST_FLOW_ERROR;
}

/* Called with the stream lock. Codes a frame, with its second field if that
 * has a buffer of its own; takes both. */
static GstFlowReturn
code_frame (GstProresNvEnc * self, GstVideoCodecFrame * frame,
    GstVideoCodecFrame * partner)
{
  GstFlowReturn flow;

  /* The task needs this lock to push, and only pushing makes room. */
  GST_VIDEO_ENCODER_STREAM_UNLOCK (self);
  flow = follow_memory (self, frame->input_buffer);
  if (flow == GST_FLOW_OK)
    flow = wait_for_room (self);
  if (flow == GST_FLOW_OK)
    flow = queue_frame (self, frame, partner);
  GST_VIDEO_ENCODER_STREAM_LOCK (self);
  if (flow != GST_FLOW_OK) {
    discard_frame (self, frame);
    if (partner)
      discard_frame (self, partner);
  }
  return flow;
}

/* Called with the stream lock, when it is known that the partner of a field
 * does not come. It is the whole frame then: nothing that was recorded is thrown
 * away. */
static GstFlowReturn
code_lone_field (GstProresNvEnc * self)
{
  GstVideoCodecFrame *frame = g_steal_pointer (&self->first_field);
  const GstVideoInfo *info = &self->info;

  if (!frame)
    return GST_FLOW_OK;
  /* The time of a missing second field is its own, too. */
  if (GST_CLOCK_TIME_IS_VALID (frame->duration) && info->fps_n > 0
      && gst_prores_nv_fields_begin (frame->input_buffer, self->order))
    frame->duration = MAX (frame->duration,
        gst_util_uint64_scale (GST_SECOND, info->fps_d, info->fps_n));
  GST_ELEMENT_WARNING (self, STREAM, ENCODE,
      ("A field has no partner. It stands for both fields of its frame."),
      ("field at %" GST_TIME_FORMAT, GST_TIME_ARGS (frame->pts)));
  return code_frame (self, frame, NULL);
}

/* Called with the stream lock. The frame lasts from the first field to the end
 * of the second, which some sources give the times of the frame as well. */
static GstFlowReturn
code_pair (GstProresNvEnc * self, GstVideoCodecFrame * second)
{
  GstVideoCodecFrame *first = g_steal_pointer (&self->first_field);

  if (GST_CLOCK_TIME_IS_VALID (first->pts)
      && GST_CLOCK_TIME_IS_VALID (second->pts)
      && GST_CLOCK_TIME_IS_VALID (first->duration)
      && GST_CLOCK_TIME_IS_VALID (second->duration))
    first->duration = MAX (first->pts + first->duration,
        second->pts + second->duration) - first->pts;
  else
    first->duration = GST_CLOCK_TIME_NONE;
  return code_frame (self, first, second);
}

/* Called with the stream lock. Takes one field of alternate video. One that
 * cannot begin a frame in the order of the stream has lost its first field, or
 * the order has changed: only a field of the same time is its partner. */
static GstFlowReturn
handle_field (GstProresNvEnc * self, GstVideoCodecFrame * frame)
{
  GstFlowReturn flow;

  if (gst_prores_nv_fields_parity (frame->input_buffer) ==
      GST_PRORES_NV_FIELD_UNMARKED) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("A field is marked neither top nor bottom. Correct the element that "
            "made it, or use interlace-mode=interleaved."),
        ("%" GST_PTR_FORMAT, frame->input_buffer));
    discard_frame (self, frame);
    return GST_FLOW_ERROR;
  }
  if (self->first_field && gst_prores_nv_fields_match (&self->info,
          self->first_field->input_buffer, frame->input_buffer, self->order))
    return code_pair (self, frame);

  flow = code_lone_field (self);
  if (flow != GST_FLOW_OK)
    discard_frame (self, frame);
  else
    self->first_field = frame;
  return flow;
}

static GstFlowReturn
gst_prores_nv_enc_handle_frame (GstVideoEncoder * encoder,
    GstVideoCodecFrame * frame)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (encoder);

  if (self->enc && self->input) {
    self->order = gst_prores_nv_fields_of_buffer (&self->info,
        frame->input_buffer);
    if (!negotiate_output (self))
      close_encoder (self);   /* nothing was sent to it yet */
  }
  if (!self->enc) {
    discard_frame (self, frame);
    return GST_FLOW_NOT_NEGOTIATED;
  }
  if (gst_prores_nv_fields_alternate (&self->info))
    return handle_field (self, frame);
  return code_frame (self, frame, NULL);
}

/* The base class calls this last before it pushes, and pushes nothing unless
 * it is told OK. */
static GstFlowReturn
gst_prores_nv_enc_pre_push (GstVideoEncoder * encoder,
    GstVideoCodecFrame * frame)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (encoder);
  const gsize bytes = gst_buffer_get_size (frame->output_buffer);

  if (bytes == 0)
    return GST_FLOW_CUSTOM_SUCCESS;     /* discard_frame() */

  g_mutex_lock (&self->lock);
  gst_prores_nv_stats_count (&self->stats, &self->packet, bytes);
  g_mutex_unlock (&self->lock);
  return GST_FLOW_OK;
}

static GstFlowReturn
gst_prores_nv_enc_finish (GstVideoEncoder * encoder)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (encoder);
  GstFlowReturn flow = code_lone_field (self);
  gboolean idle;

  GST_VIDEO_ENCODER_STREAM_UNLOCK (self);
  idle = wait_until_idle (self);
  GST_VIDEO_ENCODER_STREAM_LOCK (self);

  g_mutex_lock (&self->lock);
  if (!idle || self->flushing)
    flow = GST_FLOW_FLUSHING;
  else if (flow == GST_FLOW_OK)
    flow = self->flow;
  g_mutex_unlock (&self->lock);
  return flow;
}

/* On FLUSH_STOP, and the base class drops all its frames after. */
static gboolean
gst_prores_nv_enc_flush (GstVideoEncoder * encoder)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (encoder);

  g_mutex_lock (&self->lock);
  self->flushing = TRUE;
  g_mutex_unlock (&self->lock);

  g_clear_pointer (&self->first_field, gst_video_codec_frame_unref);
  GST_VIDEO_ENCODER_STREAM_UNLOCK (self);
  wait_until_idle (self);
  GST_VIDEO_ENCODER_STREAM_LOCK (self);

  g_mutex_lock (&self->lock);
  self->flushing = FALSE;
  self->flow = GST_FLOW_OK;
  g_mutex_unlock (&self->lock);
  return TRUE;
}

/* Caps that differ in nothing but the order of fields are no change to the base
 * class. The source caps keep their order, the frames get the new one. */
static void
update_field_order (GstProresNvEnc * self, GstEvent * event)
{
  GstCaps *caps;
  GstVideoInfo info;

  gst_event_parse_caps (event, &caps);
  if (self->enc && gst_video_info_from_caps (&info, caps)
      && gst_video_info_is_equal (&info, &self->info))
    GST_VIDEO_INFO_FIELD_ORDER (&self->info) =
        GST_VIDEO_INFO_FIELD_ORDER (&info);
}

static gboolean
gst_prores_nv_enc_sink_event (GstVideoEncoder * encoder, GstEvent * event)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (encoder);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_FLUSH_START:
      g_mutex_lock (&self->lock);
      self->flushing = TRUE;
      g_cond_broadcast (&self->changed);
      g_mutex_unlock (&self->lock);
      break;
    case GST_EVENT_CAPS:
      update_field_order (self, event);
      break;
    case GST_EVENT_STREAM_START:
    case GST_EVENT_SEGMENT:
    case GST_EVENT_GAP:
      /* What comes after is not the partner of what came before. How the lone
       * field fares the next one is told. */
      GST_VIDEO_ENCODER_STREAM_LOCK (self);
      code_lone_field (self);
      GST_VIDEO_ENCODER_STREAM_UNLOCK (self);
      break;
    default:
      break;
  }
  if (GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START) {
    g_mutex_lock (&self->lock);
    /* Ends an end of stream. */
    if (self->flow == GST_FLOW_EOS)
      self->flow = GST_FLOW_OK;
    g_mutex_unlock (&self->lock);
  }

  return GST_VIDEO_ENCODER_CLASS (gst_prores_nv_enc_parent_class)->sink_event
      (encoder, event);
}

static gboolean
gst_prores_nv_enc_sink_query (GstVideoEncoder * encoder, GstQuery * query)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (encoder);

  /* Upstream wants its buffers back; it is the streaming thread, so no frame
   * comes meanwhile. A first field has to wait for its partner: in a copy. */
  if (GST_QUERY_TYPE (query) == GST_QUERY_DRAIN) {
    wait_until_idle (self);
    if (self->first_field) {
      GstBuffer **held = &self->first_field->input_buffer;
      GstBuffer *copy = gst_buffer_copy_deep (*held);

      if (copy) {               /* else its memory cannot be copied */
        gst_buffer_replace (held, copy);
        gst_buffer_unref (copy);
      }
    }
  }

  if (GST_QUERY_TYPE (query) == GST_QUERY_CONTEXT
      && gst_prores_nv_memory_answer_query (&self->memory,
          GST_ELEMENT (self), query))
    return TRUE;

  return GST_VIDEO_ENCODER_CLASS (gst_prores_nv_enc_parent_class)->sink_query
      (encoder, query);
}

static gboolean
gst_prores_nv_enc_src_query (GstVideoEncoder * encoder, GstQuery * query)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (encoder);

  if (GST_QUERY_TYPE (query) == GST_QUERY_CONTEXT
      && gst_prores_nv_memory_answer_query (&self->memory,
          GST_ELEMENT (self), query))
    return TRUE;

  return GST_VIDEO_ENCODER_CLASS (gst_prores_nv_enc_parent_class)->src_query
      (encoder, query);
}

/* A pool of as many buffers as are held and one for upstream to fill. */
static gboolean
gst_prores_nv_enc_propose_allocation (GstVideoEncoder * encoder,
    GstQuery * query)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (encoder);
  const guint n_held = gst_prores_nv_fields_alternate (&self->info) ?
      2 * self->depth + 1 : self->depth;

  if (!gst_prores_nv_memory_offer_pool (&self->memory, GST_ELEMENT (self),
          query, n_held + 1) && !GST_VIDEO_ENCODER_CLASS
      (gst_prores_nv_enc_parent_class)->propose_allocation (encoder, query))
    return FALSE;

  if (!gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL))
    gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

/* All metas pass that tell of the frame; the base class itself keeps back
 * those that tell of its memory. A crop has been obeyed already. */
static gboolean
gst_prores_nv_enc_transform_meta (GstVideoEncoder * encoder,
    GstVideoCodecFrame * frame, GstMeta * meta)
{
  return meta->info->api != GST_VIDEO_META_API_TYPE
      && meta->info->api != GST_VIDEO_CROP_META_API_TYPE;
}

static void
gst_prores_nv_enc_set_property (GObject * object, guint id,
    const GValue * value, GParamSpec * pspec)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (object);
  gboolean known;

  GST_OBJECT_LOCK (self);
  known = gst_prores_nv_settings_set (&self->settings, id, value);
  GST_OBJECT_UNLOCK (self);
  if (!known)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static GstStructure *
make_stats (GstProresNvEnc * self)
{
  GstStructure *stats;

  g_mutex_lock (&self->lock);
  stats = gst_prores_nv_stats_tell (&self->stats, self->enc,
      self->backend_name);
  g_mutex_unlock (&self->lock);
  return stats;
}

static void
gst_prores_nv_enc_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (object);
  gboolean known;

  if (id == PROP_STATS) {
    g_value_take_boxed (value, make_stats (self));
    return;
  }

  GST_OBJECT_LOCK (self);
  known = gst_prores_nv_settings_get (&self->settings, id, value);
  GST_OBJECT_UNLOCK (self);
  if (!known)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}
