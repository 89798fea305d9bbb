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
 * gst-launch-1.0 filesrc location=in.mp4 ! decodebin ! videoconvert ! proresnvenc profile=lt ! qtmux ! filesink location=out.mov
 * ]| The video of a file as ProRes 422 LT.
 *
 * |[
 * gst-launch-1.0 -e v4l2src ! videoconvert ! queue ! proresnvenc ! qtmux ! filesink location=live.mov
 * ]| Records a camera until Ctrl-C.
 *
 * Since: 0.1
 */
#include "gstproresnvenc.h"

#include "gstproresnvallocator.h"
#include "gstproresnvbufferpool.h"
#include "gstproresnvcaps.h"
#include "gstproresnvfields.h"
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
} Slot;

struct _GstProresNvEnc
{
  GstVideoEncoder parent;

  /* Properties, under the object lock; an encoder is opened with them. */
  GstProresNvSettings settings;

  /* Written by the streaming thread while no frame is held. */
  PnvEncoder *enc;
  GstAllocator *allocator;      /* of memory that enc reads best */
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
  GstFlowReturn flow;           /* of the last push, for handle_frame() */
  GstProresNvStats stats;
  const gchar *backend_name;
};

#define PROP_STATS GST_PRORES_NV_N_SETTINGS

static void gst_prores_nv_enc_finalize (GObject * object);
static GstStateChangeReturn gst_prores_nv_enc_change_state (GstElement *
    element, GstStateChange transition);
static gboolean gst_prores_nv_enc_start (GstVideoEncoder * encoder);
static gboolean gst_prores_nv_enc_stop (GstVideoEncoder * encoder);
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
   * a larger quantizer than the constant one to keep to max-frame-size;
   * "staging-copies" (guint64) frames that the CPU copied on their way to a
   * GPU, "packet-copies" (guint64) encoded ones that it copied on their way
   * out, "fallbacks" (guint64) frames that it encoded because CUDA failed;
   * "backend" (string) in use, "none" before there is one.
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
  encoder_class->start = GST_DEBUG_FUNCPTR (gst_prores_nv_enc_start);
  encoder_class->stop = GST_DEBUG_FUNCPTR (gst_prores_nv_enc_stop);
  encoder_class->getcaps = GST_DEBUG_FUNCPTR (gst_prores_nv_enc_getcaps);
  encoder_class->set_format = GST_DEBUG_FUNCPTR (gst_prores_nv_enc_set_format);
  encoder_class->handle_frame =
      GST_DEBUG_FUNCPTR (gst_prores_nv_enc_handle_frame);
  encoder_class->pre_push = GST_DEBUG_FUNCPTR (gst_prores_nv_enc_pre_push);
  encoder_class->finish = GST_DEBUG_FUNCPTR (gst_prores_nv_enc_finish);
  encoder_class->flush = GST_DEBUG_FUNCPTR (gst_prores_nv_enc_flush);
  encoder_class->sink_event = GST_DEBUG_FUNCPTR (gst_prores_nv_enc_sink_event);
  encoder_class->sink_query = GST_DEBUG_FUNCPTR (gst_prores_nv_enc_sink_query);
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
 * user set the maximum, a frame that passes it must not go out. */
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
  GST_ELEMENT_WARNING (self, STREAM, ENCODE,
      ("A frame takes %" G_GSIZE_FORMAT " bytes even at the coarsest "
          "quantizer, more than its target of %u.", packet->size,
          packet->limit_bytes),
      ("frame at %" GST_TIME_FORMAT, GST_TIME_ARGS (frame->pts)));
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
  while (self->n_queued >= self->depth && !self->stopping && !self->flushing
      && self->flow == GST_FLOW_OK)
    g_cond_wait (&self->changed, &self->lock);
  flow = self->stopping || self->flushing ? GST_FLOW_FLUSHING : self->flow;
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

static gboolean
encoder_id_is_valid (const gchar * id)
{
  if (!id || strlen (id) != 4)
    return FALSE;
  for (; *id; id++)
    if (!g_ascii_isprint (*id))
      return FALSE;
  return TRUE;
}

static gboolean
check_encoder_id (GstProresNvEnc * self)
{
  gchar *id;
  gboolean valid;

  GST_OBJECT_LOCK (self);
  id = g_strdup (self->settings.encoder_id);
  GST_OBJECT_UNLOCK (self);
  valid = encoder_id_is_valid (id);
  if (!valid)
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
        ("The encoder id has to be four printable ASCII characters. Set "
            "encoder-id to such a text, for example " GST_PRORES_NV_DEFAULT_ENCODER_ID "."),
        ("encoder-id=\"%s\"", id ? id : "(null)"));
  g_free (id);
  return valid;
}

static gboolean
gst_prores_nv_enc_start (GstVideoEncoder * encoder)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (encoder);

  if (!check_encoder_id (self))
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

  if (self->allocator)
    gst_prores_nv_allocator_detach (GST_PRORES_NV_ALLOCATOR (self->allocator));
  gst_clear_object (&self->allocator);

  g_mutex_lock (&self->lock);
  enc = g_steal_pointer (&self->enc);
  if (enc)
    gst_prores_nv_stats_keep (&self->stats, enc);
  g_mutex_unlock (&self->lock);
  pnv_close (&enc);
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
  close_encoder (self);
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

  GST_OBJECT_LOCK (self);
  profile = self->settings.profile;
  GST_OBJECT_UNLOCK (self);

  caps = gst_prores_nv_sink_caps (profile, downstream);
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

/* What the caps say that no frame can carry, or not every player read. */
static gboolean
check_info (GstProresNvEnc * self, const GstVideoInfo * info,
    const GstCaps * caps)
{
  const gint height = GST_VIDEO_INFO_HEIGHT (info);

  if (GST_VIDEO_INFO_INTERLACE_MODE (info) ==
      GST_VIDEO_INTERLACE_MODE_PROGRESSIVE)
    return TRUE;
  if (GST_VIDEO_INFO_INTERLACE_MODE (info) == GST_VIDEO_INTERLACE_MODE_FIELDS) {
    GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
        ("Video of interlace-mode=fields cannot be encoded. Put deinterlace "
            "before proresnvenc."), ("caps %" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  if (height < 2) {
    GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
        ("A frame of one row has no two fields. Set interlace-mode=progressive "
            "in its caps."), ("caps %" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  if (height % 32 == 1)
    GST_ELEMENT_WARNING (self, STREAM, WRONG_TYPE,
        ("Interlaced video of %d rows is coded as the standard says, but "
            "FFmpeg cannot read it. Crop or add a row to be safe.", height),
        ("caps %" GST_PTR_FORMAT, caps));
  return TRUE;
}

/* The trap of pipeline descriptions: 4444 is read as a number. */
static const gchar *
variant_hint (const GstCaps * downstream)
{
  for (guint i = 0; i < gst_caps_get_size (downstream); i++)
    if (gst_structure_has_field_typed (gst_caps_get_structure (downstream, i),
            "variant", G_TYPE_INT))
      return " In a pipeline description write variant=(string)4444.";
  return "";
}

/* Auto and an error posted when the property, the caps and downstream cannot
 * agree. */
static PnvProfile
choose_profile (GstProresNvEnc * self, PnvProfile wanted,
    const GstVideoInfo * info, const GstCaps * caps, const GstCaps * downstream)
{
  const GstProresNvFormat *format =
      gst_prores_nv_format_find (GST_VIDEO_INFO_FORMAT (info));
  PnvProfile allowed[GST_PRORES_NV_N_PROFILES], profile;
  const guint n_allowed =
      gst_prores_nv_profiles_allowed (downstream, info, allowed);

  profile = gst_prores_nv_profile_choose (format, allowed, n_allowed);
  for (guint i = 0; i < n_allowed; i++)
    if (allowed[i] == wanted)
      profile = wanted;
  if (profile == PNV_PROFILE_AUTO
      || (wanted != PNV_PROFILE_AUTO && profile != wanted)) {
    GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
        ("Downstream does not take %dx%d video with profile=%s. Change the "
            "profile or the caps after proresnvenc.%s", info->width,
            info->height, pnv_profile_name (wanted), variant_hint (downstream)),
        ("caps %" GST_PTR_FORMAT ", downstream takes %" GST_PTR_FORMAT, caps,
            downstream));
    return PNV_PROFILE_AUTO;
  }
  return profile;
}

static void
log_function (gpointer opaque, PnvLogLevel level, const char *text)
{
  static const GstDebugLevel levels[] = { GST_LEVEL_ERROR, GST_LEVEL_WARNING,
    GST_LEVEL_INFO, GST_LEVEL_DEBUG
  };

  GST_CAT_LEVEL_LOG (GST_CAT_DEFAULT, levels[level], opaque, "%s", text);
}

/* Bits of alpha to code. What cannot be had is told once, not refused: a
 * picture without its alpha is still one. */
static gint
choose_alpha_bits (GstProresNvEnc * self, PnvProfile profile)
{
  const GstProresNvFormat *format =
      gst_prores_nv_format_find (GST_VIDEO_INFO_FORMAT (&self->info));
  const gboolean carries = gst_prores_nv_profile_is_444 (profile);
  gint bits;

  GST_OBJECT_LOCK (self);
  bits = self->settings.alpha_bits;
  GST_OBJECT_UNLOCK (self);

  if (format->alpha_depth && carries)
    return bits == GST_PRORES_NV_ALPHA_BITS_AUTO ? 16 : bits;
  if (bits > 0)
    GST_ELEMENT_WARNING (self, STREAM, WRONG_TYPE,
        ("No alpha is coded in spite of alpha-bits=%d: %s. Set "
            "alpha-bits=auto.", bits, carries ? "the video has none" :
            "only profiles 4444 and 4444xq carry it"),
        ("format %s, profile %s", GST_VIDEO_INFO_NAME (&self->info),
            pnv_profile_name (profile)));
  else if (bits != 0 && format->alpha_depth)
    GST_ELEMENT_WARNING (self, STREAM, WRONG_TYPE,
        ("The alpha of the video is dropped: profile %s has none. Set "
            "profile=4444 to keep it, or alpha-bits=0 if that is meant.",
            pnv_profile_name (profile)),
        ("format %s", GST_VIDEO_INFO_NAME (&self->info)));
  return 0;
}

/* Opens the core for this video, with what the properties say now. */
static gboolean
open_encoder (GstProresNvEnc * self, PnvProfile profile, gint alpha_bits,
    const GstCaps * caps)
{
  PnvParams params = { 0 };
  gchar error[PNV_ERROR_BYTES] = "", *id;
  PnvEncoder *enc;
  PnvStatus status;

  gst_prores_nv_params_from_info (&params, &self->info);
  params.profile = profile;
  params.alpha_bits = alpha_bits;
  GST_OBJECT_LOCK (self);
  gst_prores_nv_settings_apply (&self->settings, &params);
  params.encoder_id = id = g_strdup (params.encoder_id);
  GST_OBJECT_UNLOCK (self);
  params.log = log_function;
  params.log_opaque = self;

  if (params.rate_control == PNV_RATE_TARGET
      && params.quantizer != GST_PRORES_NV_DEFAULT_QUANTIZER)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("quantizer=%d has no effect on rate-control=target. Set "
            "rate-control=constant-quantizer for it.", params.quantizer),
        ("caps %" GST_PTR_FORMAT, caps));

  status = pnv_open (&enc, &params, error);
  g_free (id);
  switch (status) {
    case PNV_OK:
      self->allocator = gst_prores_nv_allocator_new (enc, GST_ELEMENT (self));
      self->depth = pnv_params (enc)->frames_in_flight;
      self->head = self->tail = 0;
      g_mutex_lock (&self->lock);
      self->enc = enc;
      self->backend_name = pnv_backend_name (enc);
      g_mutex_unlock (&self->lock);
      return TRUE;
    case PNV_ENODEV:
      GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
          ("No NVIDIA GPU can be used: %s. Set backend=cpu to encode without "
              "one.", error), ("caps %" GST_PTR_FORMAT, caps));
      return FALSE;
    case PNV_ENOMEM:
      GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
          ("Memory is not enough to encode this video. Set a lower "
              "pipeline-depth or fewer threads."),
          ("%s; caps %" GST_PTR_FORMAT, error, caps));
      return FALSE;
    default:
      g_strdelimit (error, "_", '-');   /* properties rather than fields */
      GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
          ("This video cannot be encoded as it is: %s.", error),
          ("caps %" GST_PTR_FORMAT, caps));
      return FALSE;
  }
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
  GstCaps *downstream;
  PnvProfile profile;
  gboolean idle, done = FALSE;

  /* The frames of the old format go out first, under their caps. */
  code_lone_field (self);
  GST_VIDEO_ENCODER_STREAM_UNLOCK (self);
  idle = wait_until_idle (self);
  GST_VIDEO_ENCODER_STREAM_LOCK (self);
  if (!idle)
    return FALSE;
  close_encoder (self);
  g_clear_pointer (&self->input, gst_video_codec_state_unref);

  if (!check_info (self, &state->info, state->caps)
      || !check_encoder_id (self))
    return FALSE;

  downstream = downstream_caps (self);
  GST_OBJECT_LOCK (self);
  profile = self->settings.profile;
  GST_OBJECT_UNLOCK (self);
  profile = choose_profile (self, profile, &state->info, state->caps,
      downstream);
  if (profile == PNV_PROFILE_AUTO)
    goto out;

  self->info = state->info;
  self->order = gst_prores_nv_fields_of_caps (&self->info);
  self->order_warned = FALSE;
  if (!open_encoder (self, profile, choose_alpha_bits (self, profile),
          state->caps))
    goto out;
  report_latency (self);
  tag_bitrate (self);
  self->input = gst_video_codec_state_ref (state);
  if (!order_is_open (self) && !negotiate_output (self)) {
    close_encoder (self);
    goto out;
  }

  g_mutex_lock (&self->lock);
  if (self->flow == GST_FLOW_NOT_NEGOTIATED)
    self->flow = GST_FLOW_OK;
  g_mutex_unlock (&self->lock);
  done = gst_pad_start_task (GST_VIDEO_ENCODER_SRC_PAD (self),
      gst_prores_nv_enc_loop, self, NULL);

out:
  gst_caps_unref (downstream);
  return done;
}

static gboolean
map_slot (GstProresNvEnc * self, Slot * slot)
{
  GstElement *element = GST_ELEMENT (self);

  if (!gst_prores_nv_picture_map (element, &self->info,
          slot->frame->input_buffer, &slot->video[0]))
    return FALSE;
  if (!slot->partner || gst_prores_nv_picture_map (element, &self->info,
          slot->partner->input_buffer, &slot->video[1]))
    return TRUE;
  gst_video_frame_unmap (&slot->video[0]);
  return FALSE;
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

/* Hands the frame in a free slot to the core. */
static GstFlowReturn
send_frame (GstProresNvEnc * self, Slot * slot)
{
  PnvPicture picture = {.tag = slot };
  gboolean described;
  PnvStatus status;

  if (!map_slot (self, slot))
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

  status = pnv_stage (self->enc, &picture);
  if (status == PNV_OK)
    status = pnv_submit (self->enc);
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
  if (flow != GST_FLOW_OK)
    return flow;

  self->tail = (self->tail + 1) % self->depth;
  g_mutex_lock (&self->lock);
  self->n_queued++;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  return GST_FLOW_OK;
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

  return GST_VIDEO_ENCODER_CLASS (gst_prores_nv_enc_parent_class)->sink_query
      (encoder, query);
}

/* A pool of as many buffers as are held and one for upstream to fill. */
static void
offer_pool (GstProresNvEnc * self, GstQuery * query)
{
  const guint n_held = gst_prores_nv_fields_alternate (&self->info) ?
      2 * self->depth + 1 : self->depth;
  GstAllocationParams params;
  GstBufferPool *pool;
  GstStructure *config;
  GstVideoInfo info;
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, NULL);
  if (!caps || !gst_video_info_from_caps (&info, caps))
    return;
  gst_allocation_params_init (&params);
  pool = gst_prores_nv_buffer_pool_new (self->allocator);
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps, GST_VIDEO_INFO_SIZE (&info),
      n_held + 1, 0);
  if (gst_buffer_pool_set_config (pool, config)) {
    gst_query_add_allocation_param (query, self->allocator, &params);
    gst_query_add_allocation_pool (query, pool, GST_VIDEO_INFO_SIZE (&info),
        n_held + 1, 0);
  }
  gst_object_unref (pool);
}

static gboolean
gst_prores_nv_enc_propose_allocation (GstVideoEncoder * encoder,
    GstQuery * query)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (encoder);

  if (self->allocator)
    offer_pool (self, query);
  /* Offers an ordinary pool if there is none. */
  if (!GST_VIDEO_ENCODER_CLASS
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
